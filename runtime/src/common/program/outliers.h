//===- outliers.h - what is slower than it should be ------------*- C++ -*-===//
#ifndef FFRT_COMMON_OUTLIERS_H
#define FFRT_COMMON_OUTLIERS_H

#include <cstddef>
#include <vector>

namespace ffrt {

/// Times that are compared at once, and how often in a row they must be long:
/// 20 times together.
constexpr int kWindow = 10, kSlowWindows = 2;

/// Finds, among things of which the same is measured again and again, those
/// that take longer than predicted: ranks that compute, links that carry
/// messages. What a time is of the prediction is a *ratio*. Predictions may be
/// wrong by a factor that all things of a *kind* share, so that these are
/// compared with each other only. In a window something is slow when the median
/// of its ratios is above that of its kind by more than kSpreads times the
/// spread of these (the median distance from the median, scaled to the standard
/// deviation of a normal distribution), and by kMargin of it at least. What is
/// the only one of its kind is compared with its own first windows, and must be
/// above them by kAloneMargin.
class Outliers {
public:
  static constexpr double kSpreads = 3, kMargin = 0.5, kAloneMargin = 1;

  struct Expected {
    double seconds;   ///< predicted
    int kind;         ///< from 0 on
    double least = 0; ///< seconds up to which nothing is slow
  };
  /// With a prediction that is not positive nothing is ever slow.
  explicit Outliers(const std::vector<Expected> &expected);

  struct Found {
    std::size_t number;    ///< in the order of what is expected
    double seconds, usual; ///< medians
  };
  /// What was slow in this window and its last one, and was not found yet.
  /// `times` has kWindow seconds for each of the `count` things from `first`
  /// on, one thing after the other. Allocates nothing unless something is
  /// found; valid until the next call.
  const std::vector<Found> &find(const double *times, std::size_t first,
                                 std::size_t count);
  /// Of all things.
  const std::vector<Found> &find(const double *times) {
    return find(times, 0, things.size());
  }

private:
  struct Thing {
    double predicted, least;
    std::size_t kind;
    bool is_known = false; ///< there has been a window
    bool is_found = false;
    int slow_windows = 0; ///< in a row
  };
  /// What is usual of ratios, and their spread.
  struct Usual {
    double median = 0, spread = 0; ///< 0: nothing is known
  };
  struct Kind {
    std::vector<std::size_t> things;
    std::vector<double> firsts; ///< ratios of the first windows, if alone
    Usual usual;                ///< of all; valid in one call of find()
    bool has_usual = false;
  };
  Usual usual_for(std::size_t number);
  Usual usual_in_pool();
  void add_to_pool(std::size_t number);

  std::vector<Thing> things;
  std::vector<Kind> kinds;
  std::vector<double> ratios; ///< the last windows
  std::vector<double> pool;
  std::vector<Found> found;
};

} // namespace ffrt

#endif // FFRT_COMMON_OUTLIERS_H
