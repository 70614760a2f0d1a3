//===- resize.cpp - which elements a resize interpolates ------------------===//
#include "common/conv/resize.h"

#include "common/kernels/check.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ffrt {

namespace {

struct Tap {
  int64_t position;
  double weight;
};

/// One dimension of a resize from extent `from` to `to`.
struct Dimension {
  int64_t from, to;
  double scale;
  const std::string &coordinates, &mode, &nearest;
  double cubic_coeff_a;
  bool excludes_outside;
  double begin, end; ///< the region, in parts of the operand
  bool antialiases;

  /// The place in the operand of result position `o`.
  double place(int64_t o) const {
    if (coordinates == "align_corners")
      return to == 1 ? 0.0 : double(o * (from - 1)) / double(to - 1);
    if (coordinates == "asymmetric")
      return scaled(double(o));
    if (coordinates == "pytorch_half_pixel" && to == 1)
      return 0.0;
    if (coordinates == "half_pixel_symmetric" && !is_quotient()) {
      // What rounding takes from the end, both ends lose half of.
      const double lost = double(from) - double(to) / scale;
      return lost / 2.0 + (double(o) + 0.5) / scale - 0.5;
    }
    if (coordinates == "tf_crop_and_resize") {
      const auto last = double(from - 1);
      return to == 1 ? (begin + end) / 2.0 * last
                     : begin * last +
                           double(o) * (end - begin) * last / double(to - 1);
    }
    return scaled(double(o) + 0.5) - 0.5;
  }

  /// What result position `o` is made of; positions are inside the operand.
  std::vector<Tap> taps(int64_t o) const {
    if (scale == 1.0 && from == to && begin == 0.0 && end == 1.0)
      return {{o, 1.0}};
    const double x = place(o);
    if (mode == "nearest") {
      const double rounded = nearest == "floor"  ? std::floor(x)
                             : nearest == "ceil" ? std::ceil(x)
                             : nearest == "round_prefer_floor"
                                 ? std::ceil(x - 0.5)
                                 : std::floor(x + 0.5);
      return {{inside(int64_t(rounded)), 1.0}};
    }
    const bool cubic = mode == "cubic", excludes = cubic && excludes_outside;
    // A smaller result is made of all that it covers.
    const double width = antialiases ? std::max(1.0, 1.0 / scale) : 1.0,
                 reach = (cubic ? 2.0 : 1.0) * width;
    std::vector<Tap> result;
    double sum = 0.0;
    for (auto i = int64_t(std::floor(x - reach)) + 1; double(i) < x + reach;
         ++i) {
      const double distance = std::fabs(x - double(i)) / width;
      const double weight = cubic ? cubic_weight(distance) : 1.0 - distance;
      if (weight == 0.0 || (excludes && inside(i) != i))
        continue;
      result.push_back({inside(i), weight});
      sum += weight;
    }
    // The weights that are left, or that are more, have to add up to 1 too.
    for (Tap &tap : result)
      tap.weight /= excludes || width > 1.0 ? sum : 1.0;
    return result;
  }

private:
  bool is_quotient() const { return scale == double(to) / double(from); }
  /// A scale that stands for the quotient of the extents is not rounded.
  double scaled(double x) const {
    return is_quotient() ? x * double(from) / double(to) : x / scale;
  }
  int64_t inside(int64_t position) const {
    return std::clamp<int64_t>(position, 0, from - 1);
  }
  double cubic_weight(double x) const {
    const double a = cubic_coeff_a;
    if (x <= 1.0)
      return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    return x < 2.0 ? ((x - 5.0) * x + 8.0) * x * a - 4.0 * a : 0.0;
  }
};

/// Number `i` of a region, or `whole` without one.
double end_of(const Reals &roi, int i, double whole) {
  return roi.empty() ? whole : roi[std::size_t(i)];
}

/// What every position of one dimension of a result is made of.
using Parts = std::vector<std::vector<Tap>>;

void append(ResizeTable &table, const char *kernel, const Tensor &operand,
            int d, const std::vector<Tap> &taps) {
  for (const Tap &tap : taps) {
    const int64_t local = tap.position - operand.lo[d];
    expect(kernel, local >= 0 && local < operand.shape[d],
           "expected an operand with position " + std::to_string(tap.position) +
               " of dimension " + std::to_string(d) + ", found " +
               std::to_string(operand.lo[d]) + " to " +
               std::to_string(operand.lo[d] + operand.shape[d] - 1));
    table.positions.push_back(local);
    table.weights.push_back(Real(tap.weight));
  }
  const auto i = int64_t(table.starts.size()) - 1;
  table.copies &= taps.size() == 1 && table.positions.back() == i &&
                  table.weights.back() == 1.0f;
  table.starts.push_back(int64_t(table.positions.size()));
}

/// An element of the result is made of none of the operand where one of its
/// positions is. If all are such, the operand may be absent, and nothing is
/// read of it along the other dimensions either.
std::vector<ResizeTable> tables_of(const char *kernel, const Tensor &operand,
                                   const std::vector<Parts> &dimensions) {
  const bool reads =
      std::all_of(dimensions.begin(), dimensions.end(), [](const Parts &parts) {
        return std::any_of(
            parts.begin(), parts.end(),
            [](const std::vector<Tap> &taps) { return !taps.empty(); });
      });
  expect(kernel, operand.data || !reads, "expected an operand, found none");
  std::vector<ResizeTable> tables(dimensions.size());
  for (std::size_t d = 0; d < dimensions.size(); ++d)
    for (const std::vector<Tap> &taps : dimensions[d])
      append(tables[d], kernel, operand, int(d),
             reads ? taps : std::vector<Tap>());
  return tables;
}

/// The operand is absent if no position of it is part of the result's tile.
void check_resize(const char *kernel, Tensors in, Tensors out, const Reals &roi,
                  const Reals &scales) {
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &from = in.begin()[0], &to = out.begin()[0];
  expect_type(kernel, "operand", from, kReal);
  expect_type(kernel, "result", to, kReal);
  expect(kernel, from.rank > 0, "expected an operand with dimensions");
  expect_rank(kernel, "result", to, from.rank);
  if (from.data)
    expect_same_order(kernel, "operand", from, to);
  expect(kernel, scales.size() == std::size_t(from.rank),
         "scales: expected " + std::to_string(from.rank) + " numbers, found " +
             std::to_string(scales.size()));
  expect(kernel, roi.empty() || roi.size() == 2 * scales.size(),
         "roi: expected none or " + std::to_string(2 * scales.size()) +
             " numbers, found " + std::to_string(roi.size()));
}

/// The attributes that both directions have.
struct Attributes {
  int64_t antialias;
  const std::string &coordinates;
  double cubic_coeff_a;
  int64_t exclude_outside;
  const std::string &mode, &nearest;
  const Reals &roi, &scales;

  /// Dimension `d`, of `from` elements before and `to` after resizing.
  Dimension dimension(int d, int64_t from, int64_t to) const {
    return {from,
            to,
            scales[std::size_t(d)],
            coordinates,
            mode,
            nearest,
            cubic_coeff_a,
            exclude_outside != 0,
            end_of(roi, d, 0.0),
            end_of(roi, int(scales.size()) + d, 1.0),
            antialias != 0};
  }
};

} // namespace

Resize::Resize(Context &, Tensors in, Tensors out, int64_t antialias,
               const std::string &coordinates, double cubic_coeff_a,
               int64_t exclude_outside, const std::string &mode,
               const std::string &nearest, const Reals &roi,
               const Reals &scales) {
  check_resize("resize", in, out, roi, scales);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const Attributes attributes{
      antialias, coordinates, cubic_coeff_a, exclude_outside,
      mode,      nearest,     roi,           scales};
  std::vector<Parts> parts(std::size_t(y.rank));
  for (int d = 0; d < y.rank; ++d) {
    const Dimension dimension =
        attributes.dimension(d, x.global[d], y.global[d]);
    for (int64_t o = y.lo[d]; o < y.lo[d] + y.shape[d]; ++o)
      parts[std::size_t(d)].push_back(dimension.taps(o));
  }
  plan = plan_resize(tables_of("resize", x, parts));
}

ResizeBackward::ResizeBackward(Context &, Tensors in, Tensors out,
                               int64_t antialias,
                               const std::string &coordinates,
                               double cubic_coeff_a, int64_t exclude_outside,
                               const std::string &mode,
                               const std::string &nearest, const Reals &roi,
                               const Reals &scales) {
  check_resize("resize backward", in, out, roi, scales);
  const Tensor &dy = in.begin()[0], &dx = out.begin()[0];
  const Attributes attributes{
      antialias, coordinates, cubic_coeff_a, exclude_outside,
      mode,      nearest,     roi,           scales};
  std::vector<Parts> all;
  for (int d = 0; d < dx.rank; ++d) {
    const Dimension dimension =
        attributes.dimension(d, dx.global[d], dy.global[d]);
    Parts &parts = all.emplace_back(std::size_t(dx.shape[d]));
    for (int64_t o = 0; o < dy.global[d]; ++o)
      for (const Tap &tap : dimension.taps(o))
        if (const int64_t i = tap.position - dx.lo[d];
            i >= 0 && i < dx.shape[d])
          parts[std::size_t(i)].push_back({o, tap.weight});
  }
  plan = plan_resize(tables_of("resize backward", dy, all));
}

} // namespace ffrt
