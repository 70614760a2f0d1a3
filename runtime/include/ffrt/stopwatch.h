//===- stopwatch.h - times of what a step does ------------------*- C++ -*-===//
#ifndef FFRT_STOPWATCH_H
#define FFRT_STOPWATCH_H

#include <chrono>
#include <cstddef>
#include <vector>

namespace ffrt {

/// Divides the time of a step among its kernels and copies, which are numbered
/// as the rank calls them, and everything else.
class Stopwatch {
public:
  using Clock = std::chrono::steady_clock;

  explicit Stopwatch(std::size_t sites) : taken(sites) {}

  /// What comes next is `site`, or with -1 something else, up to the next call.
  void next(int site) {
    const Clock::time_point now = Clock::now();
    (current < 0 ? others : taken[std::size_t(current)]) += seconds(now - last);
    current = site;
    last = now;
  }
  /// A step begins.
  void start() {
    taken.assign(taken.size(), 0.0);
    others = 0.0;
    current = -1;
    last = Clock::now();
  }
  /// It has ended.
  void stop() { next(-1); }

  /// Of the last step, in seconds.
  const std::vector<double> &sites() const { return taken; }
  double other() const { return others; }

private:
  static double seconds(Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  }

  std::vector<double> taken;
  double others = 0.0;
  int current = -1;
  Clock::time_point last;
};

} // namespace ffrt

#endif // FFRT_STOPWATCH_H
