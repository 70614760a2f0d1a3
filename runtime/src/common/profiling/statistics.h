//===- statistics.h - medians -----------------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_STATISTICS_H
#define FFRT_COMMON_STATISTICS_H

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ffrt {

/// The value below which the share `q` of `values` lies, one of them; there is
/// at least one.
inline double quantile(std::vector<double> values, double q) {
  const auto at = std::size_t(q * double(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(at),
                   values.end());
  return values[at];
}

/// A measured duration, in seconds.
struct Duration {
  double median = 0.0;
  double spread = 0.0; ///< half the distance between the quartiles
  std::size_t samples = 0;
};

inline Duration duration_of(const std::vector<double> &values) {
  return {quantile(values, 0.5),
          (quantile(values, 0.75) - quantile(values, 0.25)) / 2.0,
          values.size()};
}

} // namespace ffrt

#endif // FFRT_COMMON_STATISTICS_H
