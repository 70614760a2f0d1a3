//===- bitwise_test.cpp - functions of bits -------------------------------===//
#include "ffrt/bitwise.h"
#include "geometry.h"
#include "refusals.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

TEST(Bitwise, Bits) {
  using F = BitFunction;
  EXPECT_EQ(bit_function<int32_t>(F::bit_and, -2, 7), 6);
  EXPECT_EQ(bit_function<uint8_t>(F::bit_or, 0x81, 6), 0x87);
  EXPECT_EQ(bit_function<int64_t>(F::bit_xor, int64_t(1) << 62, -1),
            -(int64_t(1) << 62) - 1);
  EXPECT_EQ(bit_function<uint8_t>(F::shift_left, 0xc1, 1), 0x82);
  EXPECT_EQ(bit_function<int32_t>(F::shift_right, -5, 1), -3);
  EXPECT_EQ(bit_function<int64_t>(F::shift_right_unsigned, -1, 63), 1);
  // By too much, or by less than nothing.
  for (int32_t by : {32, 100, -1}) {
    EXPECT_EQ(bit_function<int32_t>(F::shift_left, 3, by), 0);
    EXPECT_EQ(bit_function<int32_t>(F::shift_right, 3, by), 0);
    EXPECT_EQ(bit_function<int32_t>(F::shift_right, -3, by), -1);
    EXPECT_EQ(bit_function<int32_t>(F::shift_right_unsigned, -3, by), 0);
  }
}

TEST(Bitwise, TilesThatBroadcast) {
  Context cx;
  for (unsigned round = 0; round < 12; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const auto kind = int64_t(round % 6);
    const DType type = round % 2 ? DType::i32 : DType::i64;
    Value a({3, 5, 4}), b({5, 1});
    for (double &x : a.data)
      x = double(random() % 2001) - 1000;
    for (double &x : b.data)
      x = double(random() % 9);
    Value expected(a.shape), found(a.shape);
    for_box(expected.whole(), [&](const Shape &at) {
      expected(at) = double(bit_function(BitFunction(kind), int64_t(a(at)),
                                         int64_t(b({at[1], 0}))));
      // The bits of negative numbers that are shifted in differ.
      if (kind == 5 && type == DType::i32)
        expected(at) = double(bit_function(BitFunction(kind), int32_t(a(at)),
                                           int32_t(b({at[1], 0}))));
    });
    for_split(a.shape, 3, random, [&](const Box &box) {
      const Box part{{box.lo[1], 0}, {box.size[1], 1}};
      const Order order = Order::row_major;
      const Tile ta(a, box, order, type), tb(b, part, order, type),
          ty = blank(a.shape, box, order, type);
      Bitwise k{cx, {ta, tb}, {ty}, kind};
      int64_t before = allocations();
      k({ta, tb}, {ty});
      EXPECT_EQ(allocations(), before);
      add_tile(found, ty, box);
    });
    // Doubles do not hold all numbers of 64 bits.
    expect_close(found, expected, 1e-15);
  }
}

TEST(Bitwise, Refusals) {
  const Tensor floats = tensor({3, 4}), bits = tensor({3, 4}, DType::i32);
  EXPECT_EQ(error_of([&](Context &cx) {
              Bitwise(cx, {floats, floats}, {floats}, 0);
            }),
            "bitwise: expected a result of u8, i32 or i64");
  EXPECT_EQ(error_of([&](Context &cx) {
              Bitwise(cx, {bits, bits}, {bits}, 6);
            }),
            "bitwise: kind: expected 0 to 5, found 6");
  EXPECT_EQ(error_of([&](Context &cx) { Bitwise(cx, {bits}, {bits}, 0); }),
            "bitwise: expected 2 operands, found 1");
}

} // namespace
