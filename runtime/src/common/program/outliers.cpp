//===- outliers.cpp - what is slower than it should be --------------------===//
#include "common/program/outliers.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

namespace {

/// From a median distance to a standard deviation.
constexpr double kNormal = 1.4826;

/// Times of its own that something is compared with.
constexpr std::size_t kFirsts = kSlowWindows * kWindow;

/// Reorders `values`.
double median(std::vector<double> &values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace

Outliers::Outliers(const std::vector<Expected> &expected) {
  if (!std::all_of(expected.begin(), expected.end(),
                   [](const Expected &one) { return one.seconds > 0; }))
    return;
  std::size_t largest = kSlowWindows;
  for (const Expected &one : expected) {
    const auto number = std::size_t(one.kind);
    if (kinds.size() <= number)
      kinds.resize(number + 1);
    kinds[number].things.push_back(things.size());
    largest = std::max(largest, kinds[number].things.size());
    things.push_back({one.seconds, one.least, number});
  }
  ratios.resize(things.size() * kWindow);
  for (Kind &kind : kinds)
    if (kind.things.size() == 1)
      kind.firsts.reserve(kFirsts);
  pool.reserve(largest * kWindow);
}

void Outliers::add_to_pool(std::size_t number) {
  const auto window = ratios.begin() + std::ptrdiff_t(number * kWindow);
  if (things[number].is_known)
    pool.insert(pool.end(), window, window + kWindow);
}

Outliers::Usual Outliers::usual_in_pool() {
  if (pool.empty())
    return {};
  const double usual = median(pool);
  for (double &value : pool)
    value = std::abs(value - usual);
  return {usual, kNormal * median(pool)};
}

/// What to compare it with.
Outliers::Usual Outliers::usual_for(std::size_t number) {
  Kind &kind = kinds[things[number].kind];
  pool.clear();
  if (kind.things.size() == 1) {
    if (kind.firsts.size() == kFirsts)
      pool.assign(kind.firsts.begin(), kind.firsts.end());
    return usual_in_pool();
  }
  if (kind.things.size() == 2) {
    add_to_pool(kind.things[kind.things[0] == number ? 1 : 0]);
    return usual_in_pool();
  }
  // One of many does not change what is usual.
  if (!kind.has_usual) {
    for (std::size_t each : kind.things)
      add_to_pool(each);
    kind.usual = usual_in_pool();
    kind.has_usual = true;
  }
  return kind.usual;
}

const std::vector<Outliers::Found> &
Outliers::find(const double *times, std::size_t first, std::size_t count) {
  found.clear();
  if (things.empty())
    return found;
  for (std::size_t i = 0; i < count * kWindow; ++i)
    ratios[first * kWindow + i] =
        times[i] / things[first + i / kWindow].predicted;
  for (std::size_t number = first; number < first + count; ++number)
    things[number].is_known = true;
  for (Kind &kind : kinds)
    kind.has_usual = false;
  for (std::size_t number = first; number < first + count; ++number) {
    Thing &thing = things[number];
    Kind &kind = kinds[thing.kind];
    const bool is_alone = kind.things.size() == 1;
    const Usual usual = usual_for(number);
    pool.clear();
    add_to_pool(number);
    if (is_alone && kind.firsts.size() < kFirsts)
      kind.firsts.insert(kind.firsts.end(), pool.begin(), pool.end());
    const double ratio = median(pool);
    const double margin = is_alone ? kAloneMargin : kMargin;
    const bool is_slow =
        usual.median > 0 && ratio * thing.predicted > thing.least &&
        ratio > usual.median +
                    std::max(kSpreads * usual.spread, margin * usual.median);
    thing.slow_windows = is_slow ? thing.slow_windows + 1 : 0;
    if (thing.slow_windows < kSlowWindows || thing.is_found)
      continue;
    thing.is_found = true;
    found.push_back(
        {number, ratio * thing.predicted, usual.median * thing.predicted});
  }
  return found;
}

} // namespace ffrt
