//===- slow_ranks.h - which rank is slower than it should be ----*- C++ -*-===//
#ifndef FFRT_COMMON_SLOW_RANKS_H
#define FFRT_COMMON_SLOW_RANKS_H

#include <cstddef>
#include <vector>

namespace ffrt {

/// Steps in a row that must be slow.
constexpr int kSlowSteps = 20;

/// Compares the times in which ranks compute with what the plan says. How much
/// longer a rank takes than predicted is a *ratio*; predictions may be wrong by
/// a factor that all ranks share, and ranks are compared with each other only.
/// A rank is slow when its ratio in each of kSlowSteps steps is above the
/// median of all other ranks' ratios by more than kSpreads times their spread
/// (the median distance from the median, scaled to the standard deviation of a
/// normal distribution), and by kMargin of the median at least.
class SlowRanks {
public:
  static constexpr double kSpreads = 6, kMargin = 0.5;

  /// `predicted` seconds by rank; with one that is not positive no rank is ever
  /// slow.
  explicit SlowRanks(std::vector<double> predicted);

  struct Found {
    int rank = -1;                 ///< -1: none
    double seconds = 0, usual = 0; ///< medians, of a step
  };
  /// Another rank that is slow, which find() has not named before. `times` has
  /// kSlowSteps seconds for every rank, rank after rank. Allocates nothing.
  Found find(const double *times);

private:
  double ratio(const double *times, std::size_t rank, int step) const {
    return times[rank * kSlowSteps + std::size_t(step)] / predicted[rank];
  }

  std::vector<double> predicted;
  std::vector<char> named;
  std::vector<double> pool; ///< of others' ratios
};

} // namespace ffrt

#endif // FFRT_COMMON_SLOW_RANKS_H
