//===- accumulate_test.cpp - kernels that add to what is there ------------===//
#include "ffrt/embedding.h"
#include "ffrt/matmul.h"
#include "geometry.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// `run(y)` makes a kernel for the result y and calls it: of one that
/// accumulates it makes what was there and what it makes otherwise.
void check(const Shape &shape, std::mt19937 &random,
           const std::function<void(const Tensor &)> &run) {
  const Value before = random_value(shape, random);
  const Box whole = before.whole();
  const Tile made = blank(shape, whole);
  run(made);
  Tile sum(before, whole);
  sum.tensor.accumulates = true;
  run(sum);
  Value expected = before, found(shape);
  add_tile(expected, made, whole);
  add_tile(found, sum, whole);
  expect_close(found, expected, 2e-5);
}

Tile tile_of(const Value &value, DType type = DType::f32) {
  return {value, value.whole(), Order::row_major, type};
}

constexpr DType kOperandTypes[] = {DType::f32, DType::bf16, DType::f16};

TEST(Accumulate, Products) {
  Context cx;
  std::mt19937 random(seed());
  for (DType type : kOperandTypes)
    for (int t = 0; t < 4; ++t)
      // A matrix; one for every one of a batch; the sum of a batch.
      for (const auto &[batch, of_result] :
           {std::pair(Shape{}, Shape{}), std::pair(Shape{3}, Shape{3}),
            std::pair(Shape{2, 3}, Shape{2, 1}),
            std::pair(Shape{3}, Shape{})}) {
        auto matrices = [](Shape shape, int64_t rows, int64_t columns,
                           bool transposed) {
          shape.insert(shape.end(), {transposed ? columns : rows,
                                     transposed ? rows : columns});
          return shape;
        };
        const bool ta = t & 1, tb = t & 2;
        const Value a = random_value(matrices(batch, 17, 29, ta), random, type),
                    b = random_value(matrices(batch, 29, 13, tb), random, type);
        const Tile at = tile_of(a, type), bt = tile_of(b, type);
        check(matrices(of_result, 17, 13, false), random, [&](const Tensor &y) {
          MatMul kernel(cx, {at, bt, {}, {}}, {y}, 0.5, 1.0, {}, ta, tb);
          kernel({at, bt, {}, {}}, {y});
        });
      }
}

TEST(Accumulate, ProductsBesideSums) {
  Context cx;
  std::mt19937 random(seed());
  for (DType type : kOperandTypes)
    for (bool of_a : {false, true}) {
      const Value a = random_value({28, 17}, random, type),
                  b = random_value({28, 13}, random, type);
      const Tile at = tile_of(a, type), bt = tile_of(b, type);
      check({17, 13}, random, [&](const Tensor &y) {
        // The sums overwrite.
        const Shape summed = {of_a ? 17 : 13};
        const Tile sums = blank(summed, Value(summed).whole());
        MatMulSums kernel(cx, {at, bt}, {y, sums}, 1.0, of_a ? 0 : 1, 1, 0);
        kernel({at, bt}, {y, sums});
        const Value &from = of_a ? a : b;
        for_box(Value(summed).whole(), [&](const Shape &i) {
          double expected = 0;
          for (int64_t k = 0; k < 28; ++k)
            expected += from({k, i[0]});
          EXPECT_NEAR(sums.get(i), expected, 1e-4);
        });
      });
    }
}

TEST(Accumulate, GradientsOfTables) {
  Context cx;
  std::mt19937 random(seed());
  for (int64_t count : {5, 700, 3000}) {
    const int64_t rows = 60, width = 6;
    Value indices({count});
    for (double &index : indices.data)
      index = double(random() % unsigned(rows));
    const Value dy = random_value({count, width}, random);
    const Tile ids = tile_of(indices, DType::i32), dyt = tile_of(dy);
    check({rows, width}, random, [&](const Tensor &table) {
      EmbeddingBackward kernel(cx, {ids, dyt}, {table});
      kernel({ids, dyt}, {table});
    });
  }
}

} // namespace
