//===- reduce_test.cpp - sums, maxima and products over dimensions --------===//
#include "common/device/target.h"
#include "ffrt/reduce.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace ffrt;
using namespace ffrt_test;

namespace {

struct Case {
  Shape shape;
  Ints axes;
  bool keepdims = false;
  Order order = Order::row_major;
  Order result_order = Order::row_major;
};

/// The index of the result for index `i` of the operand; reduced dimensions
/// that are kept have `reduced`.
Shape out_index(const Case &c, const Shape &i, int64_t reduced) {
  Shape o;
  for (std::size_t d = 0; d < i.size(); ++d) {
    bool is_axis = c.axes.empty() ||
                   std::count(c.axes.begin(), c.axes.end(), int64_t(d)) > 0;
    if (!is_axis)
      o.push_back(i[d]);
    else if (c.keepdims)
      o.push_back(reduced);
  }
  return o;
}

/// Random tiles of at most `most` blocks per dimension are reduced apart and
/// combined.
template <class Kernel, class Combine>
void check(const Case &c, double neutral, Combine combine, int most,
           int threads, std::mt19937 &random, DType type = DType::f32) {
  Value x = random_value(c.shape, random, type);
  if (type == DType::f32)
    for (double &value : x.data)
      value = float(value / 4.0 + 1.0); // products stay in range
  Value expected(out_index(c, c.shape, 1), neutral), found = expected;
  for_box(x.whole(), [&](const Shape &i) {
    double &y = expected(out_index(c, i, 0));
    y = combine(y, x(i));
  });
  Context cx;
  cx.threads = threads;
  for_split(c.shape, most, random, [&](const Box &box) {
    Box to{out_index(c, box.lo, 0), out_index(c, box.size, 1)};
    const Tile tx(x, box, c.order, type);
    const Tile ty = blank(expected.shape, to, c.result_order);
    Kernel k{cx, {tx}, {ty}, c.axes, int64_t(c.keepdims)};
    int64_t before = allocations();
    k({tx}, {ty});
    EXPECT_EQ(allocations(), before);
    for_box(to,
            [&](const Shape &o) { found(o) = combine(found(o), ty.get(o)); });
  });
  expect_close(found, expected, 1e-5);
}

double add(double a, double b) { return a + b; }

void check_all(const Case &c, int most, int threads, std::mt19937 &random) {
  check<ReduceSum>(c, 0.0, add, most, threads, random);
  check<ReduceMax>(
      c, -1e30, [](double a, double b) { return std::max(a, b); }, most,
      threads, random);
  check<ReduceProd>(
      c, 1.0, [](double a, double b) { return a * b; }, most, threads, random);
}

TEST(Reduce, AxesOrdersAndTiles) {
  const std::vector<Ints> lists = {{},        {0},    {1},    {3},
                                   {0, 2, 3}, {1, 2}, {0, 1}, {0, 1, 2, 3}};
  for (unsigned round = 0; round < 8; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    for (const Ints &axes : lists) {
      Case c{{3, 17, 4, 5}, axes, round % 2 == 0};
      c.order = round % 4 < 2 ? Order::channels_last : Order::row_major;
      c.result_order = round < 4 ? Order::channels_last : Order::row_major;
      check_all(c, round < 2 ? 1 : 3, 1, random);
    }
  }
}

/// Sizes at which each way to share the work among threads is taken.
TEST(Reduce, LargeTensors) {
  std::mt19937 random(seed());
  const std::vector<Case> cases = {
      {{400, 330}, {0}},
      {{400, 330}, {1}, true},
      {{400, 330}, {}},
      {{7, 3000}, {0}},
      {{2, 33, 50, 51}, {2, 3}, true, Order::channels_last},
      {{4, 33, 40, 41}, {0, 2, 3}, false, Order::channels_last},
      {{4, 33, 40, 41}, {2, 3}, false, Order::row_major},
      {{1, 3, 200, 200}, {1}, true, Order::channels_last},
      {{2, 90000}, {1}},
  };
  for (const Case &c : cases)
    for (int threads : {1, 2, 3}) {
      std::mt19937 same(seed());
      check<ReduceSum>(c, 0.0, add, 1, threads, same);
      for (DType type : {DType::bf16, DType::f16})
        check<ReduceSum>(c, 0.0, add, 1, threads, same, type);
      check<ReduceMax>(
          c, -1e30, [](double a, double b) { return std::max(a, b); }, 1,
          threads, same);
    }
}

/// Whichever element it is, in rows and in columns.
TEST(Reduce, MaximaKeepWhatIsNoNumber) {
  constexpr int64_t kRows = 19, kColumns = 37;
  for (int64_t at = 0; at < kRows * kColumns; at += 5) {
    Value x({kRows, kColumns}, 1.0);
    x.data[std::size_t(at)] = NAN;
    for (int64_t axis : {0, 1}) {
      Context cx;
      const Value whole({axis ? kRows : kColumns});
      const Tile tx(x, x.whole()), ty = blank(whole.shape, whole.whole());
      ReduceMax k{cx, {tx}, {ty}, {axis}, 0};
      k({tx}, {ty});
      finish_target();
      for (int64_t i = 0; i < whole.shape[0]; ++i)
        EXPECT_EQ(std::isnan(ty.get({i})),
                  i == (axis ? at / kColumns : at % kColumns));
    }
  }
}

} // namespace
