//===- Profile.cpp - measured times ---------------------------------------===//

#include "ffc/Plan/Profile.h"

#include "ffc/Plan/Cost.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace ffc::plan;

static Picoseconds rounded(double picoseconds) {
  if (!(picoseconds < static_cast<double>(kMaxCost)))
    return kMaxCost;
  return std::llround(picoseconds);
}

Picoseconds Curve::at(int64_t bytes) const {
  if (points.size() == 1 || bytes <= points.front().bytes)
    return points.front().time;
  auto end =
      std::find_if(points.begin() + 1, points.end() - 1,
                   [&](const Point &point) { return bytes <= point.bytes; });
  const Point &a = *(end - 1), &b = *end;
  return rounded(static_cast<double>(a.time) +
                 static_cast<double>(b.time - a.time) *
                     (static_cast<double>(bytes - a.bytes) /
                      static_cast<double>(b.bytes - a.bytes)));
}

std::optional<Picoseconds> Profile::find(const std::string &key) const {
  auto found = times.find(key);
  if (found == times.end())
    return std::nullopt;
  return found->second;
}

std::optional<Picoseconds> Profile::calibrated(std::string_view kernel,
                                               double flops,
                                               int64_t bytes) const {
  auto found = rates.find(kernel);
  if (found == rates.end())
    return std::nullopt;
  const KernelRates &rate = found->second;
  return rounded(rate.call + flops * rate.perFlop +
                 static_cast<double>(bytes) * rate.perByte);
}

const Curve *Profile::collective(CollectiveKind kind, int64_t members) const {
  auto found = collectives.find({kind, members});
  return found == collectives.end() ? nullptr : &found->second;
}

const Curve *Profile::exchange() const {
  return exchanges ? &*exchanges : nullptr;
}

//===----------------------------------------------------------------------===//
// Fit
//===----------------------------------------------------------------------===//

namespace {

using Row = std::array<double, 3>; ///< call, flops, bytes; over the time

/// The least squares solution of rows * x = 1 with zeros where `used` has no
/// bit, by Gaussian elimination; nothing if it is not unique.
std::optional<Row> solve(const std::vector<Row> &rows, unsigned used) {
  std::vector<int> columns;
  for (int c = 0; c < 3; ++c)
    if (used >> c & 1)
      columns.push_back(c);
  const size_t n = columns.size();
  // Normal equations, the right side in the last column. Columns are scaled to
  // length 1, so that one bound tells whether they are independent.
  Row length{};
  for (const Row &row : rows)
    for (int c = 0; c < 3; ++c)
      length[c] += row[c] * row[c];
  std::array<std::array<double, 4>, 3> a{};
  for (const Row &row : rows)
    for (size_t i = 0; i < n; ++i) {
      const double x = row[columns[i]] / std::sqrt(length[columns[i]]);
      for (size_t j = 0; j < n; ++j)
        a[i][j] += x * row[columns[j]] / std::sqrt(length[columns[j]]);
      a[i][3] += x;
    }
  for (size_t i = 0; i < n; ++i) {
    if (!(a[i][i] > 1e-9))
      return std::nullopt;
    for (size_t k = 0; k < n; ++k) {
      if (k == i)
        continue;
      const double factor = a[k][i] / a[i][i];
      for (size_t j = i; j < 4; ++j)
        a[k][j] -= factor * a[i][j];
    }
  }
  Row x{};
  for (size_t i = 0; i < n; ++i)
    x[columns[i]] = a[i][3] / a[i][i] / std::sqrt(length[columns[i]]);
  return x;
}

} // namespace

KernelRates ffc::plan::fitRates(const std::vector<const Measurement *> &list) {
  std::vector<Row> rows;
  for (const Measurement *m : list) {
    const double time = std::max(1.0, static_cast<double>(m->time));
    rows.push_back({1 / time, m->flops / time, m->bytes / time});
  }
  // The best solution without negative rates has zeros somewhere; there are few
  // ways to choose them.
  Row best{};
  double least = HUGE_VAL;
  for (unsigned used = 1; used < 8; ++used) {
    std::optional<Row> x = solve(rows, used);
    if (!x || *std::min_element(x->begin(), x->end()) < 0)
      continue;
    double error = 0;
    for (const Row &row : rows) {
      const double difference =
          row[0] * (*x)[0] + row[1] * (*x)[1] + row[2] * (*x)[2] - 1;
      error += difference * difference;
    }
    // Fewer rates serve as well if they fit as well.
    if (error < least - 1e-9) {
      least = error;
      best = *x;
    }
  }
  return {best[0], best[1], best[2]};
}
