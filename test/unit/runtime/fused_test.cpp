//===- fused_test.cpp - the walk of fused kernels -------------------------===//
#include "ffrt/error.h"
#include "ffrt/functors.h"
#include "ffrt/fused_kernel.h"
#include "geometry.h"

#include <gtest/gtest.h>

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
using MixedKernel = Fused<Mixed, 3, float, float>;
using NarrowKernel = Fused<Mixed, 3, BFloat16, Float16>;
using HalfNarrowKernel = Fused<Mixed, 3, float, BFloat16>;

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
    auto tile = [&](const Value &value) {
      return Tile(value, part_of(value, box),
                  value.shape == shape ? order : Order::row_major);
    };
    const Tile tx = tile(vx), ty = tile(vy), tb = tile(vb);
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

TEST(Fused, NarrowRows) {
  check({5000, 3}, {3}, {5000, 1}, Order::row_major);
  check({2, 3, 60, 60}, {3, 1, 1}, {2, 3, 1, 1}, Order::channels_last);
  check({}, {}, {}, Order::row_major);
  check({1}, {}, {1}, Order::row_major);
}

TEST(Fused, Errors) {
  Context cx;
  Value x({2, 3}), y({3, 2});
  const Tile tx(x, x.whole()), ty(y, y.whole());
  auto expect_error = [&](const std::string &expected, Tensors in,
                          Tensors out) {
    try {
      MixedKernel kernel(cx, in, out);
      ADD_FAILURE() << "no error";
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos)
          << error.what();
    }
  };
  expect_error("fused: expected 3 operands, found 2", {tx, tx}, {tx, tx});
  expect_error("fused: expected 2 results, found 1", {tx, tx, tx}, {tx});
  const Tile narrow = blank({2, 3}, x.whole(), Order::row_major, DType::bf16);
  expect_error("fused: result: expected type f32, found bf16", {tx, tx, tx},
               {tx, narrow});
  expect_error("expected an operand that broadcasts to local shape [2, 3], "
               "found [3, 2]",
               {tx, ty, tx}, {tx, tx});
}

} // namespace
