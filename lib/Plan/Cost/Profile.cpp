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

const Profile::Times::Time *Profile::Times::on(int devices) const {
  for (const Time &time : list)
    if (time.devices == devices)
      return &time;
  return nullptr;
}

const Profile::Times::Time &Profile::Times::nearest(int devices) const {
  return *std::min_element(
      list.begin(), list.end(), [&](const Time &a, const Time &b) {
        return std::abs(a.devices - devices) < std::abs(b.devices - devices);
      });
}

std::optional<Picoseconds> Profile::find(const LocalWork &work) const {
  if (auto found = times.find(work.key); found != times.end())
    if (auto *time = found->second.on(std::min(work.devices, mostDevices)))
      return time->time;
  return std::nullopt;
}

std::optional<Picoseconds> Profile::atRates(std::string_view kernel,
                                            double flops, int64_t bytes) const {
  auto found = rates.find(kernel);
  if (found == rates.end())
    return std::nullopt;
  return rounded(found->second.at(flops, static_cast<double>(bytes)));
}

/// A key without the numbers of its shapes, and the logarithms of those. Shapes
/// stand in brackets after what the kernel is told.
static std::pair<std::string, std::vector<double>>
splitKey(const std::string &key) {
  const size_t told = key.rfind(')');
  size_t i = told == std::string::npos ? 0 : told + 1;
  std::pair<std::string, std::vector<double>> result{key.substr(0, i), {}};
  bool inShape = false;
  while (i < key.size()) {
    inShape = key[i] == '[' || (inShape && key[i] != ']');
    if (!inShape || key[i] < '0' || key[i] > '9') {
      result.first += key[i++];
      continue;
    }
    double number = 0;
    for (; i < key.size() && key[i] >= '0' && key[i] <= '9'; ++i)
      number = 10 * number + (key[i] - '0');
    result.second.push_back(std::log1p(number));
    result.first += '#';
  }
  return result;
}

/// What differs by this factor in one size counts e^-0.5 times as much as what
/// is equal; and what the rates say as much as a tenth of that.
static const double kNear = std::log(2.0);
static constexpr double kTrustInRates = 0.1;

static double weightAt(double squaredDistance) {
  return std::exp(-squaredDistance / (2 * kNear * kNear));
}

static double squaredDistance(const std::vector<double> &a,
                              const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::optional<Picoseconds> Profile::calibrated(const LocalWork &work) const {
  auto rate = rates.find(work.kernel);
  if (rate == rates.end())
    return std::nullopt;
  const int devices = std::min(work.devices, mostDevices);
  const auto known = times.find(work.key);
  const Times::Time *own =
      known == times.end() ? nullptr : &known->second.nearest(devices);
  double excess = 0, weights = kTrustInRates;
  auto [family, sizes] = splitKey(work.key);
  if (auto found = families.find(family); found != families.end())
    for (const Times *other : found->second) {
      const double distance = squaredDistance(sizes, other->sizes);
      const Times::Time &near = other->nearest(devices);
      if (!own) {
        const double factor = std::log(near.devices) - std::log(devices);
        const double weight = weightAt(distance + factor * factor);
        excess += weight * near.excess;
        weights += weight;
      } else if (const Times::Time *same = other->on(own->devices);
                 same && near.devices == devices) {
        excess += weightAt(distance) * (near.excess - same->excess);
        weights += weightAt(distance);
      }
    }
  const double base =
      own ? static_cast<double>(own->time)
          : rate->second.at(work.flops, static_cast<double>(work.bytes));
  return rounded(base * std::exp(excess / weights));
}

void Profile::add(const std::vector<Measurement> &measurements) {
  std::map<std::string, std::vector<const Measurement *>> byKernel;
  for (const Measurement &measurement : measurements)
    byKernel[measurement.kernel].push_back(&measurement);
  for (const auto &[kernel, list] : byKernel)
    rates.emplace(kernel, fitRates(list));
  for (const Measurement &m : measurements) {
    mostDevices = std::max(mostDevices, m.devices);
    auto [at, isNew] = times.try_emplace(m.key);
    Times &all = at->second;
    const double expected = rates.find(m.kernel)->second.at(m.flops, m.bytes),
                 found = static_cast<double>(m.time);
    const bool compares = expected > 0 && found > 0;
    all.list.push_back(
        {m.devices, m.time, compares ? std::log(found / expected) : 0});
    if (!isNew)
      continue;
    auto [family, sizes] = splitKey(m.key);
    all.sizes = std::move(sizes);
    families[family].push_back(&all);
  }
}

const Curve *Profile::collective(CollectiveKind kind, int64_t members) const {
  auto found = collectives.find({kind, members});
  return found == collectives.end() ? nullptr : &found->second;
}

/// A file may have one of the two only.
const Curve *Profile::message() const {
  return messages ? &*messages : exchanges ? &*exchanges : nullptr;
}

const Curve *Profile::exchange() const {
  return exchanges ? &*exchanges : message();
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
