//===- slow_ranks.h - which rank is slower than it should be ----*- C++ -*-===//
#ifndef FFRT_COMMON_SLOW_RANKS_H
#define FFRT_COMMON_SLOW_RANKS_H

#include <cstddef>
#include <vector>

namespace ffrt {

/// Steps that are compared at a time, and how often in a row they must be slow:
/// 20 steps together.
constexpr int kWindow = 10, kSlowWindows = 2;

/// Compares the times in which ranks compute with what the plan says. How much
/// longer a rank takes than predicted is a *ratio*; predictions may be wrong by
/// a factor that all ranks share, and ranks are compared with each other only.
/// In a window a rank is slow when the median of its ratios is above that of
/// all other ranks' by more than kSpreads times their spread (the median
/// distance from the median, scaled to the standard deviation of a normal
/// distribution), and by kMargin of it at least.
class SlowRanks {
public:
  static constexpr double kSpreads = 3, kMargin = 0.5;

  /// `predicted` seconds by rank; with one that is not positive no rank is ever
  /// slow.
  explicit SlowRanks(std::vector<double> predicted);

  struct Found {
    int rank = -1;                 ///< -1: none
    double seconds = 0, usual = 0; ///< medians, of a step
  };
  /// Another rank that was slow in this window and the one before, and that was
  /// not named yet. `times` has kWindow seconds for every rank, rank after
  /// rank. Allocates nothing.
  Found find(const double *times);

private:
  /// Of one rank; nothing if it is not slow.
  Found look_at(const double *times, std::size_t rank);
  double ratio(const double *times, std::size_t rank, int step) const {
    return times[rank * kWindow + std::size_t(step)] / predicted[rank];
  }

  std::vector<double> predicted;
  std::vector<int> windows; ///< in a row, in which a rank was slow
  std::vector<char> named;
  std::vector<double> pool; ///< of ratios
};

} // namespace ffrt

#endif // FFRT_COMMON_SLOW_RANKS_H
