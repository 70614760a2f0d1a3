//===- live_line.h - a line that says where a run stands --------*- C++ -*-===//
#ifndef FFRT_COMMON_LIVE_LINE_H
#define FFRT_COMMON_LIVE_LINE_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ffrt {

/// What the line has; what is 0 or absent is left out.
struct LiveStatus {
  double epoch = 0;
  int64_t step = 0, steps = 0;
  std::optional<double> loss; ///< smoothed
  std::vector<std::pair<std::string, double>> metrics;
  std::optional<double> rate;
  double samples = 0, tokens = 0, flops = 0; ///< per second
  double peak_flops = 0;
  int64_t resident_bytes = 0; ///< of this process
  double seconds_left = 0;
};

/// epoch 1.25  step 120/1000  loss 2.3026  650 samples/s  1.2 TFLOP/s (71 %
/// of peak)  lr 0.01  RSS 312 MB  left 1:23
///
/// In at most `width` characters: what matters less goes first, step and time
/// left last.
std::string live_text(const LiveStatus &status, int width);

/// A mean of losses in which those of the last few hundred steps count most.
class Smoothed {
public:
  /// Goes on with those of `all` that it has not had.
  void follow(const std::vector<double> &all);
  double value() const { return weight > 0 ? sum / weight : 0; }

private:
  std::size_t followed = 0;
  double sum = 0, weight = 0;
};

/// What this process has in memory; 0 if the system does not say.
int64_t resident_bytes();

} // namespace ffrt

#endif // FFRT_COMMON_LIVE_LINE_H
