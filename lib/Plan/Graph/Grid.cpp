//===- Grid.cpp - axes and points of a configuration, and their text ------===//

#include "ffc/Plan/Configuration.h"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace ffc::plan;

GridAxis GridAxis::withShares(int dim, std::vector<int64_t> shares) {
  GridAxis axis{dim, static_cast<int64_t>(shares.size())};
  const int64_t divisor =
      std::accumulate(shares.begin(), shares.end(), int64_t(0),
                      [](int64_t a, int64_t b) { return std::gcd(a, b); });
  if (std::adjacent_find(shares.begin(), shares.end(), std::not_equal_to<>()) ==
      shares.end())
    return axis;
  for (int64_t &share : shares)
    share /= divisor;
  axis.shares = std::move(shares);
  return axis;
}

Interval GridAxis::blockOf(const IterDim &split, int64_t index) const {
  return shares.empty() ? plan::blockOf(split, degree, index)
                        : plan::blockOf(split, shares, index);
}

std::string GridAxis::str() const {
  constexpr size_t kMinRepeated = 5;
  std::string text = shares.empty() ? std::to_string(degree) : "";
  for (size_t i = 0, end = 0; i < shares.size(); i = end) {
    while (end < shares.size() && shares[end] == shares[i])
      ++end;
    if (end - i < kMinRepeated)
      end = i + 1;
    text += (i ? ":" : "") + std::to_string(shares[i]) +
            (end - i > 1 ? "*" + std::to_string(end - i) : "");
  }
  return text;
}

int64_t Configuration::numPoints() const {
  int64_t points = 1;
  for (const GridAxis &axis : axes)
    points *= axis.degree;
  return points;
}

int64_t Configuration::degreeOf(int dim) const {
  int64_t degree = 1;
  for (const GridAxis &axis : axes)
    if (axis.dim == dim)
      degree *= axis.degree;
  return degree;
}

std::vector<int64_t> Configuration::coordinates(int64_t point) const {
  std::vector<int64_t> result(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    result[i] = point % axes[i].degree;
    point /= axes[i].degree;
  }
  return result;
}

Tile Configuration::tileOf(const OpRules &rules, int64_t point) const {
  Tile tile(static_cast<int>(rules.dims.size()));
  for (int d = 0; d < tile.rank(); ++d)
    tile[d] = {0, rules.dims[d].extent};
  for (size_t i = axes.size(); i-- > 0; point /= axes[i].degree)
    if (axes[i].dim != kReplica)
      tile[axes[i].dim] =
          axes[i].blockOf(rules.dims[axes[i].dim], point % axes[i].degree);
  return tile;
}

std::string Configuration::str(const OpRules &rules) const {
  std::string text = "{";
  for (size_t i = 0; i < axes.size(); ++i)
    text +=
        (i ? ", " : "") +
        (axes[i].dim == kReplica ? "replica" : rules.dims[axes[i].dim].name) +
        " = " + axes[i].str();
  return text + "} on" + plan::str(devices) + (again ? " again" : "");
}

std::string ffc::plan::str(const std::vector<DeviceId> &devices) {
  // Shorter ones are easier to read written out.
  constexpr size_t kMinRun = 5, kMinRepeated = 9;
  auto runFrom = [&](size_t begin, DeviceId step) {
    size_t end = begin + 1;
    while (end < devices.size() && devices[end] - devices[end - 1] == step)
      ++end;
    return end - begin;
  };
  auto range = [&](size_t begin, size_t length) {
    return " " + std::to_string(devices[begin]) + "-" +
           std::to_string(devices[begin + length - 1]);
  };
  const size_t first = devices.empty() ? 0 : runFrom(0, 1);
  if (first > 1 && first < devices.size() && devices.size() % first == 0 &&
      devices.size() >= kMinRepeated &&
      std::equal(devices.begin() + static_cast<std::ptrdiff_t>(first),
                 devices.end(), devices.begin()))
    return range(0, first) + "*" + std::to_string(devices.size() / first);
  std::string text;
  for (size_t i = 0; i < devices.size();) {
    if (size_t equal = runFrom(i, 0); equal >= kMinRun) {
      text += " " + std::to_string(devices[i]) + "*" + std::to_string(equal);
      i += equal;
    } else if (size_t run = runFrom(i, 1); run >= kMinRun) {
      text += range(i, run);
      i += run;
    } else {
      text += " " + std::to_string(devices[i++]);
    }
  }
  return text;
}
