//===- fused_test.cpp - the walk of fused kernels -------------------------===//
#include "common/device/target.h"
#include "ffrt/error.h"
#include "ffrt/functors.h"
#include "ffrt/fused_kernel.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// One of each kind of operand, two results.
struct Mixed {
  FFRT_FUNCTION std::array<float, 2> operator()(float x, float y,
                                                float b) const {
    const float t = fn::Add{}(x, fn::Mul{}(y, b));
    return {fn::Relu{}(t), t};
  }
};
using Floats = From<float, float, float>;
using MixedKernel = Fused<Mixed, Floats, float, float>;
using NarrowKernel = Fused<Mixed, Floats, BFloat16, Float16>;
using HalfNarrowKernel = Fused<Mixed, Floats, float, BFloat16>;

/// The element of `value` broadcast to a tensor that `index` belongs to.
double broadcast_at(const Value &value, const Shape &index) {
  Shape own(index.end() - int64_t(value.shape.size()), index.end());
  for (std::size_t d = 0; d < own.size(); ++d)
    if (value.shape[d] == 1)
      own[d] = 0;
  return value(own);
}

/// The part of an operand that a tile of the results needs.
Box part_of(const Value &value, const Box &tile) {
  std::size_t missing = tile.size.size() - value.shape.size();
  Box part = value.whole();
  for (std::size_t d = 0; d < value.shape.size(); ++d)
    if (value.shape[d] != 1) {
      part.lo[d] = tile.lo[d + missing];
      part.size[d] = tile.size[d + missing];
    }
  return part;
}

/// A part of an operand, in the order of the results if it has their shape.
Tile operand(const Value &value, const Shape &shape, const Box &box,
             Order order, DType type = DType::f32) {
  return Tile(value, part_of(value, box),
              value.shape == shape ? order : Order::row_major, type);
}

/// Operands of the types X, Y and B give what their widened copies give.
template <class X, class Y, class B>
void check_types(const Shape &shape, const Shape &y, const Shape &b,
                 Order order) {
  const DType x_type = dtype_of(static_cast<X *>(nullptr)),
              y_type = dtype_of(static_cast<Y *>(nullptr)),
              b_type = dtype_of(static_cast<B *>(nullptr));
  std::mt19937 random(seed());
  Context cx;
  const Value vx = random_value(shape, random, x_type),
              vy = random_value(y, random, y_type),
              vb = random_value(b, random, b_type);
  for_split(shape, 3, random, [&](const Box &box) {
    const Tile wide_x = operand(vx, shape, box, order),
               wide_y = operand(vy, shape, box, order),
               wide_b = operand(vb, shape, box, order);
    const Tile tx = operand(vx, shape, box, order, x_type),
               ty = operand(vy, shape, box, order, y_type),
               tb = operand(vb, shape, box, order, b_type);
    const Tile e0 = blank(shape, box, order), e1 = blank(shape, box, order);
    MixedKernel(cx, {wide_x, wide_y, wide_b},
                {e0, e1})({wide_x, wide_y, wide_b}, {e0, e1});
    const Tile r0 = blank(shape, box, order),
               r1 = blank(shape, box, order, DType::bf16);
    Fused<Mixed, From<X, Y, B>, float, BFloat16> kernel{
        cx, {tx, ty, tb}, {r0, r1}};
    const int64_t before = allocations();
    kernel({tx, ty, tb}, {r0, r1});
    EXPECT_EQ(allocations(), before);
    EXPECT_EQ(r0.get(box.lo), e0.get(box.lo)); // finished
    EXPECT_EQ(r0.bytes, e0.bytes);
    for_box(box, [&](const Shape &i) {
      ASSERT_EQ(r1.get(i), float(BFloat16(float(e1.get(i)))));
    });
    // In place of an operand of its type.
    const Tile r2 = blank(shape, box, order);
    Fused<Mixed, From<X, Y, B>, float, X>(cx, {tx, ty, tb},
                                          {r2, tx})({tx, ty, tb}, {r2, tx});
    for_box(box, [&](const Shape &i) {
      ASSERT_EQ(r2.get(i), e0.get(i));
      ASSERT_EQ(tx.get(i), float(X(float(e1.get(i)))));
    });
  });
}

/// Operands of shapes `y` and `b` broadcast to `shape`, on random tiles.
void check(const Shape &shape, const Shape &y, const Shape &b, Order order) {
  SCOPED_TRACE(::testing::PrintToString(shape) + ::testing::PrintToString(y) +
               ::testing::PrintToString(b));
  std::mt19937 random(seed());
  Context cx;
  Value vx = random_value(shape, random), vy = random_value(y, random),
        vb = random_value(b, random);
  Value expected(shape), sum(shape), found(shape), found_sum(shape);
  for_box(vx.whole(), [&](const Shape &i) {
    sum(i) = vx(i) + broadcast_at(vy, i) * broadcast_at(vb, i);
    expected(i) = sum(i) > 0 ? sum(i) : 0;
  });
  for_split(shape, 3, random, [&](const Box &box) {
    const Tile tx = operand(vx, shape, box, order),
               ty = operand(vy, shape, box, order),
               tb = operand(vb, shape, box, order);
    const Tile r0 = blank(shape, box, order), r1 = blank(shape, box, order);
    MixedKernel kernel{cx, {tx, ty, tb}, {r0, r1}};
    int64_t before = allocations();
    kernel({tx, ty, tb}, {r0, r1});
    EXPECT_EQ(allocations(), before);
    add_tile(found, r0, box);
    add_tile(found_sum, r1, box);
    // Rounded as they are written.
    const Tile narrow0 = blank(shape, box, order, DType::bf16),
               narrow1 = blank(shape, box, order, DType::f16),
               wide = blank(shape, box, order),
               narrow2 = blank(shape, box, order, DType::bf16);
    NarrowKernel(cx, {tx, ty, tb}, {narrow0, narrow1})({tx, ty, tb},
                                                       {narrow0, narrow1});
    HalfNarrowKernel(cx, {tx, ty, tb}, {wide, narrow2})({tx, ty, tb},
                                                        {wide, narrow2});
    for_box(box, [&](const Shape &i) {
      ASSERT_EQ(narrow0.get(i), float(BFloat16(float(r0.get(i)))));
      ASSERT_EQ(narrow1.get(i), float(Float16(float(r1.get(i)))));
      ASSERT_EQ(wide.get(i), r0.get(i));
      ASSERT_EQ(narrow2.get(i), float(BFloat16(float(r1.get(i)))));
    });
    // Results in place of the first operand.
    const Tile r2 = blank(shape, box, order);
    kernel({tx, ty, tb}, {tx, r2});
    for_box(box, [&](const Shape &i) {
      ASSERT_EQ(tx.get(i), r0.get(i));
      ASSERT_EQ(r2.get(i), r1.get(i));
    });
  });
  expect_close(found, expected, 1e-6);
  expect_close(found_sum, sum, 1e-6);
  check_types<BFloat16, BFloat16, BFloat16>(shape, y, b, order);
  check_types<float, BFloat16, Float16>(shape, y, b, order);
  check_types<Float16, float, BFloat16>(shape, y, b, order);
}

TEST(Fused, Broadcasts) {
  for (Order order : {Order::row_major, Order::channels_last}) {
    const Shape image = {3, 5, 7, 4};
    check(image, image, image, order);
    check(image, image, {1}, order);
    check(image, {5, 1, 1}, {1, 5, 1, 1}, order);
    check(image, {3, 5, 1, 1}, {3, 1, 1, 1}, order);
    check(image, {7, 4}, {4}, order);
    check(image, {3, 1, 7, 1}, {1, 5, 1, 4}, order);
    check(image, {5, 7, 4}, image, order);
  }
}

TEST(Fused, LongRows) {
  check({3, 2000}, {2000}, {3, 1}, Order::row_major);
  check({3, 512}, {512}, {1, 1}, Order::row_major);
  check({2, 3, 700}, {3, 1}, {2, 1, 700}, Order::row_major);
  check({1, 40000}, {1}, {1, 40000}, Order::row_major);
  check({40, 1024, 3, 1}, {1024, 1, 1}, {3, 1}, Order::channels_last);
}

/// Memory is walked along, whatever lies between rows.
TEST(Fused, PitchedRows) {
  std::mt19937 random(seed());
  Context cx;
  for (const Shape &shape : {Shape{5, 71}, Shape{2, 3, 61}, Shape{700, 9}}) {
    const Value x = random_value(shape, random),
                y = random_value(shape, random),
                b = random_value(shape, random);
    for_split(shape, 3, random, [&](const Box &box) {
      const Order pitched = Order::pitched;
      const Tile tx(x, box, pitched), ty(y, box, pitched), tb(b, box, pitched),
          r0 = blank(shape, box, pitched, DType::bf16),
          r1 = blank(shape, box, pitched, DType::f16);
      NarrowKernel(cx, {tx, ty, tb}, {r0, r1})({tx, ty, tb}, {r0, r1});
      for_box(box, [&](const Shape &i) {
        const float sum = float(x(i)) + float(y(i)) * float(b(i));
        ASSERT_NEAR(r1.get(i), sum, 2e-3 * std::max(1.0f, std::abs(sum)));
        ASSERT_NEAR(r0.get(i), std::max(sum, 0.0f),
                    1e-2 * std::max(1.0f, std::abs(sum)));
      });
    });
  }
}

TEST(Fused, NarrowRows) {
  check({5000, 3}, {3}, {5000, 1}, Order::row_major);
  check({2, 3, 60, 60}, {3, 1, 1}, {2, 3, 1, 1}, Order::channels_last);
  check({}, {}, {}, Order::row_major);
  check({1}, {}, {1}, Order::row_major);
}

/// The last elements are less than a group, or a vector.
TEST(Fused, Tails) {
  for (int64_t n : {5, 17, 63, 1003, 70001}) {
    check({n}, {n}, {n}, Order::row_major);
    check({2, n}, {n}, {2, 1}, Order::row_major);
  }
}

struct Same {
  FFRT_FUNCTION float operator()(float x) const { return x; }
};

/// Every number that there is: small ones, infinity and NaN, too.
template <class X> void check_all() {
  constexpr int64_t kAll = 1 << 16;
  std::vector<uint16_t, Aligned<uint16_t>> bits(kAll);
  std::iota(bits.begin(), bits.end(), uint16_t(0));
  Tensor x;
  x.data = bits.data();
  x.type = dtype_of(static_cast<X *>(nullptr));
  x.rank = 1;
  x.shape[0] = x.global[0] = kAll;
  const Tile y = blank({kAll}, {{0}, {kAll}});
  Context cx;
  Fused<Same, From<X>, float>(cx, {x}, {y})({x}, {y});
  finish_target();
  for (int64_t i = 0; i < kAll; ++i) {
    const float expected = x.as<X>()[i], found = y.tensor.as<float>()[i];
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(found)) << i;
    else
      ASSERT_EQ(std::memcmp(&expected, &found, sizeof found), 0) << i;
  }
}

TEST(Fused, WidensAllNumbers) {
  check_all<BFloat16>();
  check_all<Float16>();
}

/// Elements of two bytes at any of their places.
TEST(Fused, AnyAlignment) {
  const int64_t n = 1000;
  std::mt19937 random(seed());
  const Value v = random_value({n}, random, DType::bf16);
  const Tile x(v, v.whole(), Order::row_major, DType::bf16);
  Context cx;
  for (int64_t lo : {1, 2, 3, 4, 6}) {
    const Tile y = blank({n}, v.whole(), Order::row_major, DType::bf16);
    const auto part = [&](Tensor t, int64_t first) {
      t.data = t.as<BFloat16>() + first;
      t.shape[0] = n - 8;
      return t;
    };
    for (int64_t to : {0, 1}) {
      const Tensor tx = part(x, lo), ty = part(y, to);
      Fused<fn::Relu, From<BFloat16>, BFloat16>(cx, {tx}, {ty})({tx}, {ty});
      for (int64_t i = 0; i < n - 8; ++i)
        ASSERT_EQ(y.get({to + i}), std::max(0.0, v({lo + i}))) << lo << to << i;
    }
  }
}

TEST(Fused, Errors) {
  Context cx;
  Value x({2, 3}), y({3, 2});
  const Tile tx(x, x.whole()), ty(y, y.whole());
  auto expect_error_of = [&](auto *kernel, const std::string &expected,
                             Tensors in, Tensors out) {
    try {
      std::remove_pointer_t<decltype(kernel)>(cx, in, out);
      ADD_FAILURE() << "no error";
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos)
          << error.what();
    }
  };
  auto expect_error = [&](const std::string &expected, Tensors in,
                          Tensors out) {
    expect_error_of(static_cast<MixedKernel *>(nullptr), expected, in, out);
  };
  expect_error("fused: expected 3 operands, found 2", {tx, tx}, {tx, tx});
  expect_error("fused: expected 2 results, found 1", {tx, tx, tx}, {tx});
  const Tile narrow = blank({2, 3}, x.whole(), Order::row_major, DType::bf16);
  expect_error("fused: result: expected type f32, found bf16", {tx, tx, tx},
               {tx, narrow});
  expect_error("fused: operand: expected type f32, found bf16",
               {tx, narrow, tx}, {tx, tx});
  const Tile half = blank({2, 3}, x.whole(), Order::row_major, DType::f16);
  using Wants = Fused<Mixed, From<float, BFloat16, Float16>, float, float>;
  Wants *const wants = nullptr;
  expect_error_of(wants, "fused: operand: expected type bf16, found f32",
                  {tx, tx, half}, {tx, tx});
  expect_error_of(wants, "fused: operand: expected type bf16, found f16",
                  {tx, half, half}, {tx, tx});
  expect_error_of(wants, "fused: operand: expected type f16, found bf16",
                  {tx, narrow, narrow}, {tx, tx});
  expect_error("expected an operand that broadcasts to local shape [2, 3], "
               "found [3, 2]",
               {tx, ty, tx}, {tx, tx});
}

} // namespace
