//===- gather_test.cpp - indexing along one dimension ---------------------===//
#include "ffrt/gather.h"
#include "geometry.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

Order order_of(unsigned round) {
  return round % 2 ? Order::channels_last : Order::row_major;
}

/// `box` with dimension `axis` whole.
Box whole_along(Box box, int axis, int64_t extent) {
  box.lo[axis] = 0;
  box.size[axis] = extent;
  return box;
}

/// Some positions twice, some not at all.
Ints indices_for(int64_t extent, std::mt19937 &random) {
  Ints indices;
  for (int64_t i = 0; i < extent + 2; ++i)
    indices.push_back(int64_t(random() % unsigned(extent)));
  return indices;
}

TEST(Gather, TilesOfTheResult) {
  for (unsigned round = 0; round < 16; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const int axis = int(round % 4);
    const DType types[] = {DType::i32, DType::f32, DType::bf16, DType::f16};
    const DType type = types[(round + round / 4) % 4];
    Value x = random_value({3, 5, 4, 6}, random, type);
    if (type == DType::i32)
      for (double &value : x.data)
        value = double(int(value * 100));
    const Ints indices = indices_for(x.shape[axis], random);
    Shape shape = x.shape;
    shape[axis] = int64_t(indices.size());
    Value expected(shape), found(shape);
    for_box(expected.whole(), [&](const Shape &o) {
      Shape i = o;
      i[axis] = indices[o[axis]];
      expected(o) = x(i);
    });
    Context cx;
    for_split(shape, 3, random, [&](const Box &box) {
      const Tile tx(x, whole_along(box, axis, x.shape[axis]),
                    order_of(round / 4), type);
      const Tile ty = blank(shape, box, order_of(round / 4), type);
      Gather k{cx, {tx}, {ty}, axis, indices};
      int64_t before = allocations();
      k({tx}, {ty});
      EXPECT_EQ(allocations(), before);
      add_tile(found, ty, box);
    });
    expect_close(found, expected, 0.0);
  }
}

TEST(GatherBackward, TilesOfTheOperand) {
  for (unsigned round = 0; round < 16; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const int axis = int(round % 4);
    const Shape shape = {3, 5, 4, 6};
    const Ints indices = indices_for(shape[axis], random);
    Shape from = shape;
    from[axis] = int64_t(indices.size());
    const Value dy = random_value(from, random);
    Value expected(shape), found(shape);
    for_box(dy.whole(), [&](const Shape &o) {
      Shape i = o;
      i[axis] = indices[o[axis]];
      expected(i) += dy(o);
    });
    Context cx;
    for_split(shape, 3, random, [&](const Box &box) {
      const Tile ty(dy, whole_along(box, axis, from[axis]),
                    order_of(round / 4));
      const Tile tx = blank(shape, box, order_of(round / 4));
      GatherBackward k{cx, {ty}, {tx}, axis, indices};
      int64_t before = allocations();
      k({ty}, {tx});
      EXPECT_EQ(allocations(), before);
      add_tile(found, tx, box);
    });
    expect_close(found, expected, 1e-6);
  }
}

TEST(Gather, VectorsAndErrors) {
  Context cx;
  Value x({4});
  x.data = {1, 2, 3, 4};
  const Tile tx(x, x.whole());
  const Tile ty = blank({3}, {{0}, {3}});
  Gather k{cx, {tx}, {ty}, 0, {3, 1, 0}};
  k({tx}, {ty});
  EXPECT_EQ(ty.get({0}), 4);
  EXPECT_EQ(ty.get({1}), 2);
  EXPECT_EQ(ty.get({2}), 1);
  auto message = [&](const Tensor &from, int64_t axis, const Ints &indices) {
    try {
      Gather(cx, {from}, {ty}, axis, indices);
    } catch (const std::exception &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(tx, 1, {3, 1, 0}),
            "gather: axis: expected a dimension of the operand, found 1");
  EXPECT_EQ(message(tx, 0, {3, 1, 4}),
            "gather: indices: expected positions below 4, found 4");
  EXPECT_EQ(message(tx, 0, {3, 1}),
            "gather: indices: expected 3 numbers, found 2");
  Tensor part = tx;
  part.shape[0] = 2;
  EXPECT_EQ(message(part, 0, {3, 1, 0}),
            "gather: expected an operand that is whole along the axis, found 2 "
            "of 4");
}

} // namespace
