//===- ResizeTaps.cpp - what a position of a resize is made of ------------===//

#include "ffc/IR/ResizeTaps.h"

#include <algorithm>
#include <cmath>

using namespace ffc::ff;
using llvm::SmallVector;

double ResizeDim::coordinate(int64_t o) const {
  auto position = static_cast<double>(o);
  if (coordinates == "align_corners")
    return to == 1 ? 0
                   : static_cast<double>(o * (from - 1)) /
                         static_cast<double>(to - 1);
  if (coordinates == "tf_crop_and_resize") {
    auto last = static_cast<double>(from - 1);
    return to == 1 ? (begin + end) / 2 * last
                   : begin * last + position * (end - begin) * last /
                                        static_cast<double>(to - 1);
  }
  const double quotient = static_cast<double>(to) / static_cast<double>(from);
  // A scale that stands for the quotient of the extents is not rounded.
  auto scaled = [&](double x) {
    return scale == quotient
               ? x * static_cast<double>(from) / static_cast<double>(to)
               : x / scale;
  };
  if (coordinates == "asymmetric")
    return scaled(position);
  if (coordinates == "pytorch_half_pixel" && to == 1)
    return 0;
  if (coordinates == "half_pixel_symmetric" && scale != quotient) {
    // The middle stays where it is, whatever is rounded at the end.
    double exact = static_cast<double>(from) * scale;
    return static_cast<double>(from) / 2 *
               (1 - static_cast<double>(to) / exact) +
           (position + 0.5) / scale - 0.5;
  }
  return scaled(position + 0.5) - 0.5;
}

int64_t ResizeDim::nearestTo(double x) const {
  double rounded = nearest == "floor"                ? std::floor(x)
                   : nearest == "ceil"               ? std::ceil(x)
                   : nearest == "round_prefer_floor" ? std::ceil(x - 0.5)
                                                     : std::floor(x + 0.5);
  return static_cast<int64_t>(rounded);
}

/// The weight of a position at distance `x` in cubic interpolation with the
/// coefficient `a`.
static double cubicWeight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

double ResizeDim::spread() const {
  return antialiases && scale < 1 ? 1 / scale : 1;
}

SmallVector<ResizeTap, 4> ResizeDim::taps(int64_t o) const {
  if (isCopied())
    return {{o, 1}};
  double x = coordinate(o);
  auto clamped = [&](int64_t position) {
    return std::clamp<int64_t>(position, 0, from - 1);
  };
  if (mode == "nearest")
    return {{clamped(nearestTo(x)), 1}};
  auto base = static_cast<int64_t>(std::floor(x));
  double past = x - std::floor(x), wide = spread();
  SmallVector<ResizeTap, 4> result;
  bool isCubic = mode == "cubic", excludes = isCubic && excludesOutside;
  // Positions at a distance of less than one, or with cubic weights two.
  auto reach = static_cast<int64_t>(std::ceil((isCubic ? 2 : 1) * wide));
  double sum = 0;
  for (int64_t i = 1 - reach; i <= reach; ++i) {
    double distance = (past - static_cast<double>(i)) / wide;
    double weight = isCubic ? cubicWeight(distance, cubicCoeffA)
                            : std::max(0.0, 1 - std::fabs(distance));
    if (weight == 0 || (excludes && clamped(base + i) != base + i))
      continue;
    result.push_back({clamped(base + i), weight});
    sum += weight;
  }
  // The weights that are left have to add up to 1 too.
  for (ResizeTap &tap : result)
    tap.weight /= excludes || wide > 1 ? sum : 1;
  return result;
}

std::vector<SmallVector<ResizeTap, 4>> ResizeDim::table() const {
  std::vector<SmallVector<ResizeTap, 4>> result;
  for (int64_t o = 0; o < to; ++o)
    result.push_back(taps(o));
  return result;
}
