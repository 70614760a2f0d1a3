//===- gather_elements_test.cpp - elements along one dimension ------------===//
#include "ffrt/gather_elements.h"
#include "geometry.h"
#include "refusals.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// `box` with dimension `axis` whole.
Box whole_along(Box box, int axis, int64_t extent) {
  box.lo[axis] = 0;
  box.size[axis] = extent;
  return box;
}

/// Positions below `extent`, some counted from the end.
Value indices_of(const Shape &shape, int64_t extent, std::mt19937 &random) {
  Value indices(shape);
  for (double &index : indices.data)
    index = double(int64_t(random() % unsigned(2 * extent)) - extent);
  return indices;
}

/// The element of a tensor of `extent` positions that an index names.
Shape named(Shape at, const Value &indices, int axis, int64_t extent) {
  const auto index = int64_t(indices(at));
  at[axis] = index < 0 ? index + extent : index;
  return at;
}

DType index_type(unsigned round) { return round % 2 ? DType::i32 : DType::i64; }

TEST(GatherElements, TilesOfTheResult) {
  for (unsigned round = 0; round < 8; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const int axis = int(round % 4);
    const Value x = random_value({3, 5, 4, 6}, random);
    Shape shape = x.shape;
    shape[axis] = 7;
    const Value ids = indices_of(shape, x.shape[axis], random);
    Value expected(shape), found(shape);
    for_box(expected.whole(), [&](const Shape &at) {
      expected(at) = x(named(at, ids, axis, x.shape[axis]));
    });
    Context cx;
    for_split(shape, 3, random, [&](const Box &box) {
      const Tile tx(x, whole_along(box, axis, x.shape[axis])),
          ti(ids, box, Order::row_major, index_type(round));
      const Tile ty = blank(shape, box);
      GatherElements k{cx, {tx, ti}, {ty}, axis};
      int64_t before = allocations();
      k({tx, ti}, {ty});
      EXPECT_EQ(allocations(), before);
      add_tile(found, ty, box);
    });
    expect_close(found, expected, 0.0);
  }
}

/// `count` indices per line.
void check_backward(const Shape &shape, int axis, int64_t count,
                    unsigned round) {
  std::mt19937 random(seed() * 1000 + round);
  Shape from = shape;
  from[axis] = count;
  const Value ids = indices_of(from, shape[axis], random),
              dy = random_value(from, random);
  Value expected(shape), found(shape);
  for_box(dy.whole(), [&](const Shape &at) {
    expected(named(at, ids, axis, shape[axis])) += dy(at);
  });
  Context cx;
  for_split(shape, 3, random, [&](const Box &box) {
    const Box whole = whole_along(box, axis, count);
    const Tile ti(ids, whole, Order::row_major, index_type(round)),
        ty(dy, whole);
    const Tile tx = blank(shape, box);
    GatherElementsBackward k{cx, {ti, ty}, {tx}, axis};
    int64_t before = allocations();
    k({ti, ty}, {tx});
    EXPECT_EQ(allocations(), before);
    add_tile(found, tx, box);
  });
  expect_close(found, expected, 1e-5);
}

TEST(GatherElementsBackward, TilesOfTheOperand) {
  for (unsigned round = 0; round < 8; ++round)
    check_backward({3, 5, 4, 6}, int(round % 4), 7, round);
}

TEST(GatherElementsBackward, LinesOfManyIndices) {
  check_backward({3, 5}, 1, 300, 0);
  check_backward({50, 2}, 0, 3000, 1);
  check_backward({4000}, 0, 5000, 2);
}

TEST(GatherElements, RefusesOtherOperands) {
  Tensor part = tensor({3, 5});
  part.shape[1] = 4;
  const Tensor x = tensor({3, 5}), ids = tensor({3, 2}, DType::i64);
  auto error = [&](const Tensor &x, const Tensor &ids, int64_t axis) {
    return error_of([&](Context &cx) {
      GatherElements(cx, {x, ids}, {tensor({3, 2})}, axis);
    });
  };
  EXPECT_EQ(error(x, ids, 1), "no error");
  EXPECT_EQ(error(x, ids, 2), "gather elements: axis: expected a dimension of "
                              "the operand, found 2");
  EXPECT_EQ(error(x, tensor({3, 2}), 1),
            "gather elements: indices: expected i32 or i64, found f32");
  EXPECT_EQ(error(part, ids, 1),
            "gather elements: expected an operand that is whole along the "
            "axis, found 4 of 5");
}

} // namespace
