//===- normalize_case.h - a normalisation and its values --------*- C++ -*-===//
#ifndef FFRT_TEST_NORMALIZE_CASE_H
#define FFRT_TEST_NORMALIZE_CASE_H

#include "ffrt/normalize.h"
#include "geometry.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <type_traits>

namespace ffrt_test {

using ffrt::Context;
using ffrt::Ints;
using ffrt::Reals;
using ffrt::Tensors;

constexpr double kEpsilon = 1e-3;

/// Kernels that have groups of samples.
template <class Kernel>
constexpr bool kHasGroups =
    std::is_constructible_v<Kernel, Context &, Tensors, Tensors, Ints, Reals,
                            double, Ints, int64_t>;

/// Kernels of the forward operator.
template <class Kernel> constexpr bool kIsForward = false;
template <> constexpr bool kIsForward<ffrt::NormalizeForward> = true;
template <> constexpr bool kIsForward<ffrt::NormalizeApply> = true;

/// One normalisation with its values in double precision.
struct Case {
  Ints axes, params;
  int64_t groups; ///< of samples
  Order order;
  Reals clamp;
  bool adds; ///< the addend is used, by the forward operator too
  Value x, dy, scale, bias, addend;
  Value y, mean, var, dx, dscale, dbias;

  Case(const Shape &shape, const Ints &axes, const Ints &params, Order order,
       double offset, std::mt19937 &random, const Reals &clamp = {},
       int64_t groups = 1, bool adds = false)
      : axes(axes), params(params), groups(groups), order(order), clamp(clamp),
        adds(adds), x(random_value(shape, random)),
        dy(random_value(shape, random)),
        scale(random_value(over(shape, params), random)),
        bias(random_value(over(shape, params), random)),
        addend(random_value(shape, random)), y(shape), mean(statistics()),
        var(mean.shape), dx(shape), dscale(scale.shape), dbias(scale.shape) {
    for (double &v : x.data)
      v = double(float(v + offset));
    compute();
  }

  static Shape over(const Shape &from, const Ints &dims) {
    Shape result;
    for (int64_t d : dims)
      result.push_back(from[std::size_t(d)]);
    return result;
  }
  static Box over(const Box &box, const Ints &dims) {
    return {over(box.lo, dims), over(box.size, dims)};
  }
  Ints kept() const {
    Ints dims;
    for (int64_t d = 0; d < int64_t(x.shape.size()); ++d)
      if (std::count(axes.begin(), axes.end(), d) == 0)
        dims.push_back(d);
    return dims;
  }

  /// Are the kernels of the gradient told the bounds? Else dy is the gradient
  /// of what was not cut.
  bool cuts() const {
    const Ints dims = kept();
    return !clamp.empty() && !adds &&
           std::all_of(params.begin(), params.end(), [&](int64_t d) {
             return std::count(dims.begin(), dims.end(), d) > 0;
           });
  }

  /// Is the addend used by the gradient?
  bool adds_to_dx() const { return adds || cuts(); }

  int64_t within() const { return x.shape[0] / groups; }
  /// The shape of the statistics.
  Shape statistics() const {
    Shape shape = over(x.shape, kept());
    if (groups > 1)
      shape.insert(shape.begin(), groups);
    return shape;
  }
  /// The statistic of an element of x.
  Shape statistic(const Shape &i) const {
    Shape index = over(i, kept());
    if (groups > 1)
      index.insert(index.begin(), i[0] / within());
    return index;
  }
  /// The statistics of a tile.
  Box statistics(const Box &box) const {
    Box result = over(box, kept());
    if (groups > 1) {
      const int64_t lo = box.lo[0] / within();
      result.lo.insert(result.lo.begin(), lo);
      result.size.insert(result.size.begin(),
                         (box.hi(0) - 1) / within() + 1 - lo);
    }
    return result;
  }
  /// Calls f for every tile of a random split: parts of groups of samples, and
  /// several groups. Dimensions in `keep` stay whole, 0 within groups.
  void for_tiles(int most, std::mt19937 &random,
                 const std::function<void(const Box &)> &f,
                 const std::vector<int> &keep = {}) const {
    if (groups == 1)
      return for_split(x.shape, most, random, f, keep);
    const bool whole = std::count(keep.begin(), keep.end(), 0) > 0;
    const Shape borders = cut(groups, most, random);
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
      const int64_t begin = borders[i], end = borders[i + 1];
      Shape samples = {0, (end - begin) * within()};
      if (end - begin == 1 && !whole)
        samples = cut(within(), most, random);
      for (std::size_t k = 0; k + 1 < samples.size(); ++k) {
        Shape shape = x.shape;
        shape[0] = samples[k + 1] - samples[k];
        std::vector<int> fixed = keep;
        fixed.push_back(0);
        auto shifted = [&](Box box) {
          box.lo[0] += begin * within() + samples[k];
          f(box);
        };
        for_split(shape, most, random, shifted, fixed);
      }
    }
  }

  void compute() {
    double count = 1.0 / double(groups);
    for (int64_t d : axes)
      count *= double(x.shape[std::size_t(d)]);
    auto each = [&](auto f) {
      for_box(x.whole(),
              [&](const Shape &i) { f(i, statistic(i), over(i, params)); });
    };
    using S = const Shape &;
    each([&](S i, S s, S) { mean(s) += x(i) / count; });
    each([&](S i, S s, S) {
      var(s) += (x(i) - mean(s)) * (x(i) - mean(s)) / count;
    });
    auto h = [&](S i, S s) {
      return (x(i) - mean(s)) / std::sqrt(var(s) + kEpsilon);
    };
    Value g(mean.shape), gh(mean.shape), slopes = dy;
    each([&](S i, S s, S p) {
      const double whole =
          h(i, s) * scale(p) + bias(p) + (adds ? addend(i) : 0.0);
      y(i) = clamped(whole, clamp);
      if (cuts() && y(i) != whole)
        slopes(i) = 0;
      g(s) += slopes(i) * scale(p) / count;
      gh(s) += slopes(i) * scale(p) * h(i, s) / count;
      dscale(p) += slopes(i) * h(i, s);
      dbias(p) += slopes(i);
    });
    each([&](S i, S s, S p) {
      dx(i) = (slopes(i) * scale(p) - g(s) - h(i, s) * gh(s)) /
                  std::sqrt(var(s) + kEpsilon) +
              (adds_to_dx() ? addend(i) : 0.0);
    });
  }
};

/// Runs a kernel, which takes no memory.
template <class Kernel>
void call(const Case &c, Tensors in, Tensors out, int threads = 2) {
  Context cx;
  cx.threads = threads;
  const Reals clamp = kIsForward<Kernel> || c.cuts() ? c.clamp : Reals{};
  Kernel kernel = [&] {
    if constexpr (kHasGroups<Kernel>)
      return Kernel{cx, in, out, c.axes, clamp, kEpsilon, c.params, c.groups};
    else
      return Kernel{cx, in, out, c.axes, clamp, kEpsilon, c.params};
  }();
  int64_t before = allocations();
  kernel(in, out);
  EXPECT_EQ(allocations(), before);
}

} // namespace ffrt_test

#endif // FFRT_TEST_NORMALIZE_CASE_H
