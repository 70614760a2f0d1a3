//===- normalize_test.cpp - normalisations, whole and in phases -----------===//
#include "ffrt/error.h"
#include "normalize_case.h"

using namespace ffrt;
using namespace ffrt_test;

namespace {

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
        const Tensor more = c.adds ? addend.tensor : absent(shape),
                     back = c.adds_to_dx() ? addend.tensor : absent(shape);
        const Tile ty = blank(shape, box, c.order),
                   td = blank(shape, box, c.order);
        const Tile tm = blank(mean.shape, sb), tv = blank(mean.shape, sb);
        const Tile ts = blank(c.scale.shape, pb), tb = blank(c.bias.shape, pb);
        call<NormalizeForward>(c, {x, scale, bias, more}, {ty, tm, tv});
        add_tile(y, ty, box);
        add_tile(mean, tm, sb);
        add_tile(var, tv, sb);
        call<NormalizeBackward>(c, {dy, x, tm, tv, scale, bias, back},
                                {td, ts, tb});
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
      call<NormalizeChannelSums>(c, {dy, x, tm, tv, scale, bias},
                                 {first, second});
    } else {
      const Tile ts = blank(c.scale.shape, pb), tb = blank(c.scale.shape, pb);
      call<NormalizeBackwardSums>(c, {dy, x, tm, tv, scale, bias},
                                  {first, second, ts, tb});
      add_tile(dscale, ts, pb);
      add_tile(dbias, tb, pb);
    }
    add_tile(g, first, sb);
    add_tile(gh, second, sb);
  }
  for (const Box &box : boxes) {
    const Box pb = Case::over(box, c.params);
    const Tile x(c.x, box, c.order), dy(c.dy, box, c.order), scale(c.scale, pb),
        bias(c.bias, pb), addend(c.addend, box, c.order);
    const Tensor more = c.adds_to_dx() ? addend.tensor : absent(shape);
    const Tile mean = part(c.mean, box), var = part(c.var, box);
    const Tile first = part(g, box), second = part(gh, box);
    const Tile out = blank(shape, box, c.order);
    if (channels) {
      const Tile ts = blank(c.scale.shape, pb), tb = blank(c.scale.shape, pb);
      call<NormalizeChannelData>(
          c, {dy, x, mean, var, scale, bias, first, second, more},
          {out, ts, tb});
      for_box(pb, [&](const Shape &i) {
        dscale(i) = ts.get(i);
        dbias(i) = tb.get(i);
      });
    } else {
      call<NormalizeBackwardData>(
          c, {dy, x, mean, var, scale, bias, first, second, more}, {out});
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

/// Gradients of what was cut to bounds.
void check_cut(const Shape &shape, const Ints &axes, const Ints &params,
               int64_t groups = 1) {
  std::mt19937 random(seed());
  for (Order order : {Order::row_major, Order::channels_last})
    for (const Reals &clamp : {Reals{0.0}, Reals{-0.5, 0.25}})
      for (int most : {1, 3}) {
        const Case c(shape, axes, params, order, /*offset=*/3.0, random, clamp,
                     groups);
        ASSERT_TRUE(c.cuts());
        check_fused(c, most, random);
        check_phases(c, most, random);
      }
}

TEST(Normalize, WhatWasCut) {
  check_cut({5, 7, 6, 9}, {0, 2, 3}, {1});
  check_cut({5, 24, 6, 9}, {0, 2, 3}, {1});
  check_cut({33, 5}, {0}, {1});
  check_cut({8, 19, 31, 33}, {0, 2, 3}, {1});
  check_cut({8, 2, 40, 40}, {0, 2, 3}, {1});
  check_cut({6, 7, 6, 9}, {0, 2, 3}, {1}, 3);
  check_cut({3, 5, 4, 6}, {2, 3}, {1});
  check_cut({3, 4, 35}, {2}, {0, 1});
  check_cut({10, 600}, {1}, {0});
  check_cut({2, 9001}, {1}, {0});
}

TEST(Normalize, CutWithOneParameterPerStatistic) {
  std::mt19937 random(seed());
  const Shape shape = {3, 4};
  const Case c(shape, {1}, {1}, Order::row_major, 0.0, random);
  const Tile x(c.x, c.x.whole()), mean(c.mean, c.mean.whole()),
      scale(c.scale, c.scale.whole());
  Context cx;
  try {
    NormalizeBackward(cx, {x, x, mean, mean, scale, scale, absent(shape)},
                      {x, scale, scale}, c.axes, {0.0}, kEpsilon, c.params);
    ADD_FAILURE() << "no error";
  } catch (const Error &e) {
    EXPECT_STREQ(e.what(), "normalize backward: clamp: expected no bounds, or "
                           "one parameter per statistic, found several");
  }
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
    check({4, 12300}, {1}, {1}, round);
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
    call<NormalizeBackward>(c, {dy, x, mean, var, none, none, absent(shape)},
                            {dx, none, none});
    Value found(shape), gradient(shape);
    add_tile(found, y, box);
    add_tile(gradient, dx, box);
    expect_close(found, c.y);
    expect_close(gradient, c.dx, 1e-4);
  }
}

} // namespace
