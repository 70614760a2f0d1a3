//===- top_k_test.cpp - largest elements along one dimension --------------===//
#include "ffrt/error.h"
#include "ffrt/top_k.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// y and index, of `count` elements along `axis`.
std::pair<Value, Value> reference(const Value &x, int axis, int64_t count,
                                  bool largest) {
  Shape shape = x.shape;
  shape[axis] = count;
  std::pair<Value, Value> result{Value(shape), Value(shape)};
  Box firsts = x.whole();
  firsts.size[axis] = 1;
  for_box(firsts, [&](Shape at) {
    std::vector<int64_t> order(x.shape[axis]);
    std::iota(order.begin(), order.end(), 0);
    auto element = [&](int64_t i) {
      at[axis] = i;
      return largest ? -x(at) : x(at);
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return element(a) < element(b);
    });
    for (int64_t i = 0; i < count; ++i) {
      at[axis] = order[i];
      const double value = x(at);
      at[axis] = i;
      result.first(at) = value;
      result.second(at) = double(order[i]);
    }
  });
  return result;
}

TEST(TopK, EveryAxisBothWays) {
  std::mt19937 random(seed());
  Context cx;
  cx.threads = 2;
  Value x = random_value({3, 7, 4}, random);
  // Equal elements, in every line.
  for (double &element : x.data)
    element = std::round(4 * element) / 4;
  for (int axis = 0; axis < 3; ++axis)
    for (int64_t count : {int64_t(1), int64_t(2), x.shape[axis]})
      for (bool largest : {false, true}) {
        auto [y, index] = reference(x, axis, count, largest);
        const Tile in(x, x.whole());
        const Tile values = blank(y.shape, y.whole()),
                   places =
                       blank(y.shape, y.whole(), Order::row_major, DType::i64);
        TopK top(cx, {in}, {values, places}, axis, largest);
        top({in}, {values, places});
        Value found(y.shape), found_index(y.shape);
        add_tile(found, values, y.whole());
        add_tile(found_index, places, y.whole());
        EXPECT_EQ(found.data, y.data);
        EXPECT_EQ(found_index.data, index.data);

        const Value dy = random_value(y.shape, random);
        Value expected(x.shape);
        for_box(y.whole(), [&](const Shape &at) {
          Shape to = at;
          to[axis] = int64_t(index(at));
          expected(to) += dy(at);
        });
        const Tile slopes(dy, dy.whole()), dx = blank(x.shape, x.whole());
        TopKBackward back(cx, {slopes, places}, {dx}, axis);
        back({slopes, places}, {dx});
        Value gradient(x.shape);
        add_tile(gradient, dx, x.whole());
        EXPECT_EQ(gradient.data, expected.data);
      }
}

TEST(TopK, FewAndManyOfLongLines) {
  std::mt19937 random(seed());
  Context cx;
  Value x = random_value({2, 300}, random);
  // Equal elements, far from each other.
  for (double &element : x.data)
    element = std::round(32 * element) / 32;
  for (int64_t count : {3, 100})
    for (bool largest : {false, true}) {
      auto [y, index] = reference(x, 1, count, largest);
      const Tile in(x, x.whole());
      const Tile values = blank(y.shape, y.whole()),
                 places =
                     blank(y.shape, y.whole(), Order::row_major, DType::i64);
      TopK(cx, {in}, {values, places}, 1, largest)({in}, {values, places});
      Value found(y.shape), found_index(y.shape);
      add_tile(found, values, y.whole());
      add_tile(found_index, places, y.whole());
      EXPECT_EQ(found.data, y.data);
      EXPECT_EQ(found_index.data, index.data);
    }
}

TEST(TopK, NotANumberIsLargest) {
  Context cx;
  Value x({1, 4});
  x.data = {1.0, std::numeric_limits<double>::quiet_NaN(), 3.0, 2.0};
  const Tile in(x, x.whole()),
      places = blank({1, 2}, {{0, 0}, {1, 2}}, Order::row_major, DType::i64);
  for (bool largest : {false, true}) {
    TopK(cx, {in}, {Tensor(), places}, 1, largest)({in}, {Tensor(), places});
    EXPECT_EQ(places.get({0, 0}), largest ? 1 : 0);
    EXPECT_EQ(places.get({0, 1}), largest ? 2 : 3);
  }
}

TEST(TopK, WrongOperands) {
  Context cx;
  const Value x({4, 6});
  auto message = [&](const Tile &in, const Tile &out, int64_t axis) {
    try {
      TopK(cx, {in}, {out, Tensor()}, axis, 1);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Tile whole(x, x.whole()), half(x, {{0, 3}, {4, 3}});
  const Tile two = blank({4, 2}, {{0, 0}, {4, 2}}),
             many = blank({4, 7}, {{0, 0}, {4, 7}});
  EXPECT_EQ(message(whole, two, 1), "");
  EXPECT_EQ(message(whole, two, 2),
            "top k: expected axis within rank 2, found 2");
  EXPECT_EQ(message(half, two, 1),
            "top k: x: expected all positions along the axis (6), found 3");
  EXPECT_EQ(message(whole, many, 1),
            "top k: y: expected at most 6 positions, found 7");
}

} // namespace
