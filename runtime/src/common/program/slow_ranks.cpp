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
    : predicted(std::move(seconds)), windows(predicted.size()),
      named(predicted.size()) {
  pool.reserve(predicted.size() * kWindow);
  if (!std::all_of(predicted.begin(), predicted.end(),
                   [](double time) { return time > 0; }))
    predicted.clear();
}

SlowRanks::Found SlowRanks::look_at(const double *times, std::size_t rank) {
  pool.clear();
  for (std::size_t other = 0; other < predicted.size(); ++other)
    for (int step = 0; other != rank && step < kWindow; ++step)
      pool.push_back(ratio(times, other, step));
  if (pool.empty())
    return {};
  const double usual = median(pool);
  for (double &value : pool)
    value = std::abs(value - usual);
  const double spread = kNormal * median(pool);
  pool.clear();
  for (int step = 0; step < kWindow; ++step)
    pool.push_back(ratio(times, rank, step));
  const double found = median(pool);
  if (found <= usual + std::max(kSpreads * spread, kMargin * usual))
    return {};
  return {int(rank), found * predicted[rank], usual * predicted[rank]};
}

SlowRanks::Found SlowRanks::find(const double *times) {
  Found first;
  for (std::size_t rank = 0; rank < predicted.size(); ++rank) {
    const Found found = look_at(times, rank);
    windows[rank] = found.rank < 0 ? 0 : windows[rank] + 1;
    if (windows[rank] < kSlowWindows || named[rank] || first.rank >= 0)
      continue;
    named[rank] = true;
    first = found;
  }
  return first;
}

} // namespace ffrt
