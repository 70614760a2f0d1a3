//===- slow_ranks.cpp - which rank is slower than it should be ------------===//
#include "common/program/slow_ranks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ffrt {

namespace {

/// From a median distance to a standard deviation.
constexpr double kNormal = 1.4826;

/// Reorders `values`.
double median(std::vector<double> &values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace

SlowRanks::SlowRanks(std::vector<double> seconds)
    : predicted(std::move(seconds)), named(predicted.size()) {
  pool.reserve(predicted.size() * kSlowSteps);
  for (double time : predicted)
    if (!(time > 0))
      predicted.clear();
}

SlowRanks::Found SlowRanks::find(const double *times) {
  for (std::size_t rank = 0; rank < predicted.size(); ++rank) {
    pool.clear();
    for (std::size_t other = 0; other < predicted.size(); ++other)
      for (int step = 0; other != rank && step < kSlowSteps; ++step)
        pool.push_back(ratio(times, other, step));
    if (named[rank] || pool.empty())
      continue;
    const double usual = median(pool);
    for (double &value : pool)
      value = std::abs(value - usual);
    const double spread = kNormal * median(pool);
    const double most = usual + std::max(kSpreads * spread, kMargin * usual);
    pool.clear();
    for (int step = 0; step < kSlowSteps; ++step)
      pool.push_back(ratio(times, rank, step));
    if (*std::min_element(pool.begin(), pool.end()) <= most)
      continue;
    named[rank] = true;
    return {int(rank), median(pool) * predicted[rank], usual * predicted[rank]};
  }
  return {};
}

} // namespace ffrt
