//===- shape_test.cpp - kernels that only move elements -------------------===//
#include "common/device/target.h"
#include "ffrt/shape.h"
#include "geometry.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

Order order_of(std::mt19937 &random) {
  return random() % 2 ? Order::channels_last : Order::row_major;
}

/// Types that differ in size, and in what a padding is made of.
DType type_of(unsigned round) {
  constexpr DType types[] = {DType::f32, DType::bf16, DType::f16};
  return types[round % 3];
}

TEST(Reshape, KeepsRowMajorOrderOfElements) {
  for (unsigned round = 0; round < 12; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Context cx;
    const DType type = type_of(round);
    const Value x = random_value({4, 6, 5, 7}, random, type);
    Value expected({4, 6 * 5, 7}), found({4, 6 * 5, 7});
    expected.data = x.data;
    // The sample and the last dimension may be cut.
    for_split({4, 30, 7}, 3, random,
              [&](const Box &box) {
                Box from{{box.lo[0], 0, 0, box.lo[2]},
                         {box.size[0], 6, 5, box.size[2]}};
                const Tile tx(x, from, order_of(random), type);
                const Tile ty = blank(found.shape, box, order_of(random), type);
                Reshape k{cx, {tx}, {ty}};
                int64_t before = allocations();
                k({tx}, {ty});
                EXPECT_EQ(allocations(), before);
                add_tile(found, ty, box);
              },
              {1});
    expect_close(found, expected, 0.0);
  }
}

/// Rows that are not cut, in place and not.
TEST(Reshape, KeepsPitchedRows) {
  std::mt19937 random(seed());
  Context cx;
  for (DType type : {DType::bf16, DType::f32}) {
    const Value x = random_value({4, 6, 61}, random, type);
    for_split({4, 6, 61}, 3, random,
              [&](const Box &from) {
                const Box to{{from.lo[0] * 6, 0}, {from.size[0] * 6, 61}};
                const Tile tx(x, from, Order::pitched, type),
                    ty = blank({24, 61}, to, Order::pitched, type);
                Tile same = ty;
                same.tensor.data = tx.tensor.data;
                Reshape(cx, {tx}, {ty})({tx}, {ty});
                Reshape(cx, {tx}, {same})({tx}, {same});
                finish_target();
                for_box(from, [&](const Shape &i) {
                  const Shape at = {i[0] * 6 + i[1], i[2]};
                  ASSERT_EQ(ty.get(at), x(i));
                  ASSERT_EQ(same.get(at), x(i));
                });
              },
              {1, 2});
  }
}

TEST(Transpose, AllPermutations) {
  Ints perm = {0, 1, 2, 3};
  unsigned round = 0;
  do {
    std::mt19937 random(seed());
    Context cx;
    const DType type = type_of(round++);
    const Value x = random_value({5, 34, 3, 40}, random, type);
    Shape shape;
    for (int64_t d : perm)
      shape.push_back(x.shape[d]);
    Value expected(shape), found(shape);
    auto back = [&](const Shape &o) {
      Shape i(4);
      for (int d = 0; d < 4; ++d)
        i[perm[d]] = o[d];
      return i;
    };
    for_box(expected.whole(),
            [&](const Shape &o) { expected(o) = x(back(o)); });
    for_split(shape, 2, random, [&](const Box &box) {
      const Tile tx(x, {back(box.lo), back(box.size)}, order_of(random), type);
      const Tile ty = blank(shape, box, order_of(random), type);
      Transpose k{cx, {tx}, {ty}, perm};
      k({tx}, {ty});
      add_tile(found, ty, box);
    });
    expect_close(found, expected, 0.0);
  } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST(Concat, TilesReadSomeOperands) {
  for (unsigned round = 0; round < 12; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Context cx;
    const DType type = type_of(round);
    const int axis = int(round % 4);
    std::vector<Value> parts;
    Shape shape = {3, 4, 5, 6};
    int64_t total = 0;
    for (int64_t extent : {2, 5, 1}) {
      shape[axis] = extent;
      total += extent;
      parts.push_back(random_value(shape, random, type));
    }
    shape[axis] = total;
    Value expected(shape), found(shape);
    auto source = [&](Shape &index) {
      int k = 0;
      for (; index[axis] >= parts[k].shape[axis]; ++k)
        index[axis] -= parts[k].shape[axis];
      return k;
    };
    for_box(expected.whole(), [&](const Shape &o) {
      Shape i = o;
      int k = source(i);
      expected(o) = parts[k](i);
    });
    for_split(shape, 3, random, [&](const Box &box) {
      std::vector<Tile> tiles;
      std::vector<Tensor> in;
      int64_t offset = 0;
      for (const Value &part : parts) {
        Box b = box;
        b.lo[axis] -= offset;
        b = b.clipped(part.shape);
        tiles.push_back(Tile(part, b, order_of(random), type));
        offset += part.shape[axis];
      }
      for (std::size_t k = 0; k < parts.size(); ++k)
        in.push_back(tiles[k].bytes.empty() ? absent(parts[k].shape, type)
                                            : tiles[k].tensor);
      const Tile ty = blank(shape, box, order_of(random), type);
      Concat k{cx, {in[0], in[1], in[2]}, {ty}, axis};
      int64_t before = allocations();
      k({in[0], in[1], in[2]}, {ty});
      EXPECT_EQ(allocations(), before);
      add_tile(found, ty, box);
    });
    expect_close(found, expected, 0.0);
  }
}

TEST(SliceAndPad, ShiftCoordinates) {
  for (unsigned round = 0; round < 12; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Context cx;
    const DType type = type_of(round);
    const Value x = random_value({6, 7, 8}, random, type);
    Value sliced({3, 4, 8}), sliced2({3, 4, 8});
    const Ints starts = {2, 1, 0};
    for_box(sliced.whole(), [&](const Shape &o) {
      sliced(o) = x({o[0] + 2, o[1] + 1, o[2]});
    });
    for_split(sliced.shape, 3, random, [&](const Box &box) {
      Box from = box;
      from.lo[0] += 2;
      from.lo[1] += 1;
      const Tile tx(x, from, order_of(random), type);
      const Tile ty = blank(sliced.shape, box, order_of(random), type);
      Slice k{cx, {tx}, {ty}, starts};
      k({tx}, {ty});
      add_tile(sliced2, ty, box);
      // Where the operand is: nothing happens.
      Tensor view = tx;
      k({tx}, {view});
      for_box(from, [&](const Shape &i) { EXPECT_EQ(tx.get(i), x(i)); });
    });
    expect_close(sliced2, sliced, 0.0);

    // Grows, grows at the end only, shrinks at both ends.
    const Ints pads = {2, 0, -1, 3, 4, -2};
    Value padded({11, 11, 5}, 7.0), padded2({11, 11, 5});
    for_box(x.whole(), [&](const Shape &i) {
      Shape o = {i[0] + 2, i[1], i[2] - 1};
      if (o[2] >= 0 && o[2] < 5)
        padded(o) = x(i);
    });
    for_split(padded.shape, 3, random, [&](const Box &box) {
      Box from = box;
      from.lo[0] -= 2;
      from.lo[2] += 1;
      from = from.clipped(x.shape);
      const Tile tx(x, from, order_of(random), type);
      const Tile ty = blank(padded.shape, box, order_of(random), type);
      const Tensor operand = from.empty() ? absent(x.shape, type) : tx.tensor;
      Pad k{cx, {operand}, {ty}, pads, 7.0};
      int64_t before = allocations();
      k({operand}, {ty});
      EXPECT_EQ(allocations(), before);
      add_tile(padded2, ty, box);
    });
    expect_close(padded2, padded, 0.0);
  }
}

} // namespace
