//===- normalize_test.cpp - normalisations, whole and in phases -----------===//
#include "ffrt/bfloat16.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"
#include "ffrt/normalize.h"
#include "geometry.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <type_traits>

using namespace ffrt;
using namespace ffrt_test;

namespace {

constexpr double kEpsilon = 1e-3;

/// Kernels that take bounds of the result are those of the forward operator.
template <class Kernel>
constexpr bool kIsForward =
    std::is_constructible_v<Kernel, Context &, Tensors, Tensors, Ints, Reals,
                            double, Ints>;

/// Kernels of the gradient that have groups of samples.
template <class Kernel>
constexpr bool kHasGroups =
    std::is_constructible_v<Kernel, Context &, Tensors, Tensors, Ints, double,
                            Ints, int64_t>;

/// One normalisation with its values in double precision.
struct Case {
  Ints axes, params;
  int64_t groups; ///< of samples
  Order order;
  Reals clamp;
  bool adds; ///< the addend is used
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
    Value g(mean.shape), gh(mean.shape);
    each([&](S i, S s, S p) {
      y(i) = clamped(h(i, s) * scale(p) + bias(p) + (adds ? addend(i) : 0.0),
                     clamp);
      g(s) += dy(i) * scale(p) / count;
      gh(s) += dy(i) * scale(p) * h(i, s) / count;
      dscale(p) += dy(i) * h(i, s);
      dbias(p) += dy(i);
    });
    each([&](S i, S s, S p) {
      dx(i) = (dy(i) * scale(p) - g(s) - h(i, s) * gh(s)) /
              std::sqrt(var(s) + kEpsilon);
    });
  }
};

template <class Kernel>
void call(const Case &c, Tensors in, Tensors out, int threads = 2) {
  Context cx;
  cx.threads = threads;
  Kernel kernel = [&] {
    if constexpr (kIsForward<Kernel>)
      return Kernel{cx, in, out, c.axes, c.clamp, kEpsilon, c.params, c.groups};
    else if constexpr (kHasGroups<Kernel>)
      return Kernel{cx, in, out, c.axes, kEpsilon, c.params, c.groups};
    else
      return Kernel{cx, in, out, c.axes, kEpsilon, c.params};
  }();
  int64_t before = allocations();
  kernel(in, out);
  EXPECT_EQ(allocations(), before);
}

/// Tiles that do not split the normalised dimensions.
void check_fused(const Case &c, int most, std::mt19937 &random) {
  const Shape &shape = c.x.shape;
  Value y(shape), mean(c.mean.shape), var(c.mean.shape), dx(shape),
      dscale(c.scale.shape), dbias(c.scale.shape);
  std::vector<int> keep(c.axes.begin(), c.axes.end());
  c.for_tiles(
      most, random,
      [&](const Box &box) {
        const Box sb = c.statistics(box), pb = Case::over(box, c.params);
        const Tile x(c.x, box, c.order), dy(c.dy, box, c.order);
        const Tile scale(c.scale, pb), bias(c.bias, pb),
            addend(c.addend, box, c.order);
        const Tensor more = c.adds ? addend.tensor : absent(shape);
        const Tile ty = blank(shape, box, c.order),
                   td = blank(shape, box, c.order);
        const Tile tm = blank(mean.shape, sb), tv = blank(mean.shape, sb);
        const Tile ts = blank(c.scale.shape, pb), tb = blank(c.bias.shape, pb);
        call<NormalizeForward>(c, {x, scale, bias, more}, {ty, tm, tv});
        add_tile(y, ty, box);
        add_tile(mean, tm, sb);
        add_tile(var, tv, sb);
        call<NormalizeBackward>(c, {dy, x, tm, tv, scale}, {td, ts, tb});
        add_tile(dx, td, box);
        add_tile(dscale, ts, pb);
        add_tile(dbias, tb, pb);
      },
      keep);
  expect_close(mean, c.mean, 1e-5);
  expect_close(var, c.var, 1e-5);
  expect_close(y, c.y);
  expect_close(dx, c.dx, 1e-4);
  expect_close(dscale, c.dscale, 1e-4);
  expect_close(dbias, c.dbias);
}

/// Any tiles: sums are added up over them.
void check_phases(const Case &c, int most, std::mt19937 &random) {
  const Shape &shape = c.x.shape;
  std::vector<Box> boxes;
  c.for_tiles(most, random, [&](const Box &box) { boxes.push_back(box); });
  auto part = [&](const Value &value, const Box &box) {
    return Tile(value, c.statistics(box));
  };
  auto empty = [&](const Box &box) {
    return blank(c.mean.shape, c.statistics(box));
  };
  auto fresh = [&] { return Value(c.mean.shape); };
  Value sums = fresh(), squares = fresh(), g = fresh(), gh = fresh();
  Value y(shape), dx(shape), dscale(c.scale.shape), dbias(c.scale.shape);
  for (const Box &box : boxes) {
    const Tile out = empty(box);
    call<NormalizeSum>(c, {Tile(c.x, box, c.order)}, {out});
    add_tile(sums, out, c.statistics(box));
  }
  for (const Box &box : boxes) {
    const Tile out = empty(box);
    call<NormalizeSquares>(c, {Tile(c.x, box, c.order), part(sums, box)},
                           {out});
    add_tile(squares, out, c.statistics(box));
  }
  const bool channels = c.groups == 1 && c.kept() == c.params;
  for (const Box &box : boxes) {
    const Box pb = Case::over(box, c.params), sb = c.statistics(box);
    const Tile x(c.x, box, c.order), dy(c.dy, box, c.order);
    const Tile scale(c.scale, pb), bias(c.bias, pb),
        addend(c.addend, box, c.order);
    const Tensor more = c.adds ? addend.tensor : absent(shape);
    const Tile ty = blank(shape, box, c.order), tm = empty(box),
               tv = empty(box), first = empty(box), second = empty(box);
    call<NormalizeApply>(
        c, {x, part(sums, box), part(squares, box), scale, bias, more},
        {ty, tm, tv});
    add_tile(y, ty, box);
    if (channels) {
      call<NormalizeChannelSums>(c, {dy, x, tm, tv}, {first, second});
    } else {
      const Tile ts = blank(c.scale.shape, pb), tb = blank(c.scale.shape, pb);
      call<NormalizeBackwardSums>(c, {dy, x, tm, tv, scale},
                                  {first, second, ts, tb});
      add_tile(dscale, ts, pb);
      add_tile(dbias, tb, pb);
    }
    add_tile(g, first, sb);
    add_tile(gh, second, sb);
  }
  for (const Box &box : boxes) {
    const Box pb = Case::over(box, c.params);
    const Tile x(c.x, box, c.order), dy(c.dy, box, c.order), scale(c.scale, pb);
    const Tile mean = part(c.mean, box), var = part(c.var, box);
    const Tile first = part(g, box), second = part(gh, box);
    const Tile out = blank(shape, box, c.order);
    if (channels) {
      const Tile ts = blank(c.scale.shape, pb), tb = blank(c.scale.shape, pb);
      call<NormalizeChannelData>(c, {dy, x, mean, var, scale, first, second},
                                 {out, ts, tb});
      for_box(pb, [&](const Shape &i) {
        dscale(i) = ts.get(i);
        dbias(i) = tb.get(i);
      });
    } else {
      call<NormalizeBackwardData>(c, {dy, x, mean, var, scale, first, second},
                                  {out});
    }
    add_tile(dx, out, box);
  }
  expect_close(y, c.y);
  expect_close(dx, c.dx, 1e-4);
  expect_close(dscale, c.dscale, 1e-4);
  expect_close(dbias, c.dbias);
}

void check(const Shape &shape, const Ints &axes, const Ints &params,
           unsigned round, int64_t groups = 1) {
  std::mt19937 random(seed() * 1000 + round);
  const Order order = round % 2 ? Order::channels_last : Order::row_major;
  const int most = round < 2 ? 1 : 3;
  // Nothing, as relu, as clip.
  const Reals clamps[] = {{}, {0.0}, {-0.5, 0.25}};
  const Case c(shape, axes, params, order, /*offset=*/3.0, random,
               clamps[round % 3], groups, /*adds=*/round % 4 >= 2);
  check_fused(c, most, random);
  check_phases(c, most, random);
}

TEST(Normalize, Batch) {
  for (unsigned round = 0; round < 4; ++round) {
    check({5, 7, 6, 9}, {0, 2, 3}, {1}, round);
    check({33, 5}, {0}, {1}, round);
    check({3, 1, 4, 5}, {0, 2, 3}, {1}, round);
    check({4, 21, 3}, {0, 2}, {1}, round);
    check({2, 3, 2, 3, 4}, {0, 2, 3, 4}, {1}, round);
  }
}

TEST(Normalize, BatchOfManyRows) {
  // More rows than are added up in single precision, and several parts.
  for (unsigned round = 0; round < 4; ++round)
    check({8, 19, 31, 33}, {0, 2, 3}, {1}, round);
}

TEST(Normalize, BatchOfFewChannels) {
  // Several blocks of threads for one statistic.
  for (unsigned round = 0; round < 4; ++round) {
    check({8, 2, 40, 40}, {0, 2, 3}, {1}, round);
    check({7, 1500}, {0, 1}, {1}, round);
  }
}

TEST(Normalize, GroupsOfSamples) {
  for (unsigned round = 0; round < 4; ++round) {
    check({6, 7, 6, 9}, {0, 2, 3}, {1}, round, 3);
    check({6, 7, 6, 9}, {0, 2, 3}, {1}, round, 6);
    check({32, 5}, {0}, {1}, round, 4);
    check({8, 19, 31, 33}, {0, 2, 3}, {1}, round, 2);
    check({4, 2, 3, 4, 5}, {0, 2, 3, 4}, {1}, round, 2);
    check({4, 3, 5}, {0, 2}, {2}, round, 2);
    check({4, 3, 5}, {0, 1, 2}, {1, 2}, round, 2);
  }
}

TEST(Normalize, Instance) {
  for (unsigned round = 0; round < 4; ++round) {
    check({3, 5, 4, 6}, {2, 3}, {1}, round);
    check({3, 18, 50}, {2}, {1}, round);
  }
}

TEST(Normalize, Layer) {
  for (unsigned round = 0; round < 4; ++round) {
    check({3, 4, 35}, {2}, {2}, round);
    check({130, 40}, {1}, {1}, round);
    check({3, 4, 5, 6}, {1, 2, 3}, {1, 2, 3}, round);
    check({3, 4, 5, 6}, {1}, {1}, round);
    check({3, 4, 5, 6}, {0, 1, 2, 3}, {1}, round);
  }
}

TEST(Normalize, LayerOfLongRows) {
  for (unsigned round : {0, 2}) {
    check({10, 600}, {1}, {1}, round);
    check({9, 9001}, {1}, {1}, round);
  }
}

TEST(Normalize, Group) {
  for (unsigned round = 0; round < 4; ++round)
    check({3, 2, 3, 4, 5}, {2, 3, 4}, {1, 2}, round);
}

/// Without statistics the tile alone says how many groups it has.
TEST(Normalize, GroupsWithoutStatistics) {
  std::mt19937 random(seed());
  for (Order order : {Order::row_major, Order::channels_last}) {
    const Shape shape = {6, 4, 5, 3};
    const Case c(shape, {0, 2, 3}, {1}, order, 0.0, random, {}, 3);
    Value found(shape);
    c.for_tiles(3, random,
                [&](const Box &box) {
                  const Box pb = Case::over(box, c.params);
                  const Tile y = blank(shape, box, order);
                  const Tensor none = absent(c.mean.shape);
                  call<NormalizeForward>(c,
                                         {Tile(c.x, box, order),
                                          Tile(c.scale, pb), Tile(c.bias, pb),
                                          absent(shape)},
                                         {y, none, none});
                  add_tile(found, y, box);
                },
                {0, 2, 3});
    expect_close(found, c.y);
  }
}

/// Means far from zero: what cancels must not be lost.
TEST(Normalize, LargeOffset) {
  std::mt19937 random(seed());
  for (Order order : {Order::row_major, Order::channels_last}) {
    const Shape shape = {4, 6, 20, 20};
    const Case c(shape, {0, 2, 3}, {1}, order, /*offset=*/1000.0, random);
    const Box box = c.x.whole(), channels{{0}, {6}};
    const Tile x(c.x, box, order), y = blank(shape, box, order);
    const Tile scale(c.scale, channels), bias(c.bias, channels);
    const Tile mean = blank({6}, channels), var = blank({6}, channels);
    call<NormalizeForward>(c, {x, scale, bias, absent(shape)}, {y, mean, var});
    Value found({6}), out(shape);
    add_tile(found, var, channels);
    add_tile(out, y, box);
    expect_close(found, c.var, 1e-5);
    // The mean itself is only known to a unit in its last place.
    expect_close(out, c.y, 2e-4);
  }
}

TEST(Normalize, AbsentOperandsAndResults) {
  std::mt19937 random(seed());
  for (Order order : {Order::row_major, Order::channels_last}) {
    const Shape shape = {3, 4, 5, 6};
    Case c(shape, {0, 2, 3}, {1}, order, 0.0, random);
    std::fill(c.scale.data.begin(), c.scale.data.end(), 1.0);
    std::fill(c.bias.data.begin(), c.bias.data.end(), 0.0);
    for (Value *v : {&c.y, &c.mean, &c.var, &c.dx, &c.dscale, &c.dbias})
      std::fill(v->data.begin(), v->data.end(), 0.0);
    c.compute();
    const Box box = c.x.whole();
    const Tensor none = absent({4});
    const Tile x(c.x, box, order), dy(c.dy, box, order);
    const Tile mean(c.mean, {{0}, {4}}), var(c.var, {{0}, {4}});
    const Tile y = blank(shape, box, order), dx = blank(shape, box, order);
    call<NormalizeForward>(c, {x, none, none, absent(shape)}, {y, none, none});
    call<NormalizeBackward>(c, {dy, x, mean, var, none}, {dx, none, none});
    Value found(shape), gradient(shape);
    add_tile(found, y, box);
    add_tile(gradient, dx, box);
    expect_close(found, c.y);
    expect_close(gradient, c.dx, 1e-4);
  }
}

/// The first result stored as bf16 and f16 is that stored as f32, rounded.
template <class Kernel, class... More>
void expect_rounded(const Case &c, Tensors in, const More &...more) {
  const Box box = c.x.whole();
  const Tile whole = blank(c.x.shape, box, c.order),
             bf16 = blank(c.x.shape, box, c.order, DType::bf16),
             f16 = blank(c.x.shape, box, c.order, DType::f16);
  call<Kernel>(c, in, {whole, more...});
  call<Kernel>(c, in, {bf16, more...});
  call<Kernel>(c, in, {f16, more...});
  for_box(box, [&](const Shape &i) {
    const float value = float(whole.get(i));
    ASSERT_EQ(bf16.get(i), float(BFloat16(value)));
    ASSERT_EQ(f16.get(i), float(Float16(value)));
  });
}

void check_narrow(const Shape &shape, const Ints &axes, const Ints &params,
                  int64_t groups = 1) {
  std::mt19937 random(seed());
  for (Order order : {Order::row_major, Order::channels_last})
    for (bool adds : {false, true}) {
      const Case c(shape, axes, params, order, /*offset=*/3.0, random,
                   adds ? Reals{0.0} : Reals{}, groups, adds);
      const Box box = c.x.whole();
      const Tile x(c.x, box, order), dy(c.dy, box, order);
      const Tile mean(c.mean, c.mean.whole()), var(c.var, c.var.whole());
      const Tile scale(c.scale, c.scale.whole()), bias(c.bias, c.bias.whole()),
          addend(c.addend, box, order);
      const Tensor more = adds ? addend.tensor : absent(shape);
      const Tile tm = blank(c.mean.shape, c.mean.whole()),
                 tv = blank(c.mean.shape, c.mean.whole()),
                 ts = blank(c.scale.shape, c.scale.whole()),
                 tb = blank(c.scale.shape, c.scale.whole());
      // Any numbers serve as sums.
      const Tile &first = mean, &second = var;
      expect_rounded<NormalizeForward>(c, {x, scale, bias, more}, tm, tv);
      expect_rounded<NormalizeApply>(c, {x, first, second, scale, bias, more},
                                     tm, tv);
      expect_rounded<NormalizeBackward>(c, {dy, x, mean, var, scale}, ts, tb);
      expect_rounded<NormalizeBackwardData>(
          c, {dy, x, mean, var, scale, first, second});
      if (groups == 1 && c.kept() == params)
        expect_rounded<NormalizeChannelData>(
            c, {dy, x, mean, var, scale, first, second}, ts, tb);
    }
}

TEST(Normalize, NarrowResults) {
  // Batches: by columns where channels are last, which a GPU reads in groups of
  // neighbours, one by one and as one row.
  check_narrow({5, 24, 6, 9}, {0, 2, 3}, {1});
  check_narrow({5, 7, 6, 9}, {0, 2, 3}, {1});
  check_narrow({33, 5}, {0}, {1});
  // Layers and instances: row by row, strided, and longer than registers hold.
  check_narrow({130, 40}, {1}, {1});
  check_narrow({3, 4, 35}, {2}, {2});
  check_narrow({3, 4, 5, 6}, {1}, {1});
  check_narrow({3, 18, 50}, {2}, {1});
  check_narrow({2, 9001}, {1}, {1});
}

TEST(Normalize, NarrowResultsOfGroupsOfSamples) {
  check_narrow({6, 7, 5, 9}, {0, 2, 3}, {1}, 3);
  check_narrow({6, 8, 6, 4}, {0, 2, 3}, {1}, 6);
  check_narrow({4, 3, 5}, {0, 1, 2}, {1, 2}, 2);
}

TEST(Normalize, RefusesOtherNarrowTensors) {
  std::mt19937 random(seed());
  const Shape shape = {3, 4};
  const Case c(shape, {0}, {1}, Order::row_major, 0.0, random);
  const Box box = c.x.whole(), one = c.mean.whole();
  const Tile x(c.x, box), scale(c.scale, one), bias(c.bias, one);
  const Tile y = blank(shape, box), mean = blank({4}, one),
             var = blank({4}, one);
  const Tile narrow_addend(c.addend, box, Order::row_major, DType::f16),
      narrow_mean = blank({4}, one, Order::row_major, DType::bf16),
      number = blank(shape, box, Order::row_major, DType::i32);
  auto expect_error = [&](const char *text, const Tensor &addend,
                          const Tensor &y, const Tensor &mean) {
    try {
      call<NormalizeForward>(c, {x, scale, bias, addend}, {y, mean, var});
      ADD_FAILURE() << "no error";
    } catch (const Error &e) {
      EXPECT_STREQ(e.what(), text);
    }
  };
  const Tensor none = absent(shape);
  expect_error("normalize forward: mean: expected type f32, found bf16", none,
               y, narrow_mean);
  expect_error("normalize forward: addend: expected type f32, found f16",
               narrow_addend, y, mean);
  expect_error("normalize forward: y: expected type f32, bf16 or f16, found "
               "i32",
               none, number, mean);
}

} // namespace
