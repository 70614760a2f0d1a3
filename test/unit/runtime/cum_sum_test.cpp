//===- cum_sum_test.cpp - running sums ------------------------------------===//
#include "ffrt/cum_sum.h"
#include "ffrt/error.h"
#include "geometry.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

Value reference(const Value &x, int axis, bool exclusive, bool reverse) {
  Value y(x.shape);
  for_box(x.whole(), [&](const Shape &at) {
    Shape from = at;
    double sum = 0;
    for (from[axis] = 0; from[axis] < x.shape[axis]; ++from[axis])
      if (from[axis] == at[axis] ? !exclusive
                                 : (from[axis] < at[axis]) != reverse)
        sum += x(from);
    y(at) = sum;
  });
  return y;
}

TEST(CumSum, EveryAxisAndDirection) {
  std::mt19937 random(seed());
  Context cx;
  const Value x = random_value({3, 5, 4}, random);
  for (int axis = 0; axis < 3; ++axis)
    for (int form = 0; form < 4; ++form) {
      const Tile in(x, x.whole());
      Tile out = blank(x.shape, x.whole());
      const bool exclusive = form & 1, reverse = form & 2;
      CumSum sum(cx, {in}, {out}, axis, exclusive, reverse);
      sum({in}, {out});
      Value found(x.shape);
      add_tile(found, out, x.whole());
      expect_close(found, reference(x, axis, exclusive, reverse));
    }
}

TEST(CumSum, LongLinesInPlace) {
  std::mt19937 random(seed());
  Context cx;
  const Value x = random_value({2, 700}, random);
  for (int form = 0; form < 4; ++form) {
    const Tile tile(x, x.whole());
    const bool exclusive = form & 1, reverse = form & 2;
    CumSum(cx, {tile}, {tile}, 1, exclusive, reverse)({tile}, {tile});
    Value found(x.shape);
    add_tile(found, tile, x.whole());
    expect_close(found, reference(x, 1, exclusive, reverse));
  }
}

TEST(CumSum, PartsOfOtherDimensions) {
  std::mt19937 random(seed());
  Context cx;
  const Value x = random_value({6, 7}, random);
  Value found(x.shape);
  for (int64_t lo : {0, 2, 5}) {
    const Box part{{lo, 0}, {lo == 5 ? 1 : lo == 2 ? 3 : 2, 7}};
    const Tile in(x, part);
    Tile out = blank(x.shape, part);
    CumSum(cx, {in}, {out}, 1, 0, 0)({in}, {out});
    add_tile(found, out, part);
  }
  expect_close(found, reference(x, 1, false, false));
}

TEST(CumSum, WrongOperands) {
  Context cx;
  const Value x({4, 6});
  const Tile whole(x, x.whole()), half(x, {{0, 3}, {4, 3}});
  auto message = [&](const Tile &tile, int64_t axis) {
    try {
      CumSum(cx, {tile}, {tile}, axis, 0, 0);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(whole, 1), "");
  EXPECT_EQ(message(whole, 2), "cum_sum: expected axis within rank 2, found 2");
  EXPECT_EQ(message(half, 1),
            "cum_sum: expected all positions along the axis (6), found 3");
  EXPECT_EQ(message(half, 0), "");
}

} // namespace
