//===- matmul_narrow_test.cpp - products that are written as they multiply ===//
#include "ffrt/matmul.h"
#include "geometry.h"
#include "refusals.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

constexpr DType kNarrow[] = {DType::bf16, DType::f16};

Shape with(Shape batch, int64_t rows, int64_t columns, bool transposed) {
  batch.insert(batch.end(),
               {transposed ? columns : rows, transposed ? rows : columns});
  return batch;
}

/// A product of batches of m by k and k by n.
struct Product {
  Shape a, b, y; ///< batch dimensions
  int64_t m, n, k;
  bool trans_a, trans_b;
  double alpha = 1.0;
  bool row = false;
  Reals clamp = {};
};

void expect_rounded_product(const Product &p, DType type,
                            std::mt19937 &random) {
  const Value a = random_value(with(p.a, p.m, p.k, p.trans_a), random, type),
              b = random_value(with(p.b, p.k, p.n, p.trans_b), random, type),
              row = random_value({p.n}, random, type);
  const Shape y = with(p.y, p.m, p.n, false);
  const Box whole = Value(y).whole();
  const Tile at(a, a.whole(), Order::row_major, type),
      bt(b, b.whole(), Order::row_major, type), wide_row(row, row.whole()),
      narrow_row(row, row.whole(), Order::row_major, type);
  const Tile wide = blank(y, whole),
             rounded = blank(y, whole, Order::row_major, type);
  Context cx;
  auto run = [&](const Tile &c, const Tile &result) {
    const Tensor term = p.row ? c.tensor : Tensor(), none;
    MatMul product{
        cx,      {at, bt, term, none}, {result},          p.alpha, 1.0,
        p.clamp, int64_t(p.trans_a),   int64_t(p.trans_b)};
    product({at, bt, term, none}, {result});
    product({at, bt, term, none}, {result}); // leaves nothing behind
  };
  run(wide_row, wide);
  run(narrow_row, rounded);
  expect_rounded(rounded, wide, whole);
  // A row of another type than y's.
  const Tile same = blank(y, whole);
  run(narrow_row, same);
  for_box(whole, [&](const Shape &i) { ASSERT_EQ(same.get(i), wide.get(i)); });
}

TEST(NarrowMatMul, IsRoundedOnce) {
  std::mt19937 random(seed());
  for (DType type : kNarrow)
    for (int t = 0; t < 4; ++t)
      for (const Reals &clamp : {Reals{}, Reals{0.0}, Reals{-0.3, 0.7}})
        for (bool row : {false, true}) {
          auto check = [&](const Shape &a, const Shape &b, const Shape &y,
                           int64_t m, int64_t n, int64_t k,
                           double alpha = 1.0) {
            expect_rounded_product({a, b, y, m, n, k, (t & 1) != 0,
                                    (t & 2) != 0, row ? 1.0 : alpha, row,
                                    clamp},
                                   type, random);
          };
          check({}, {}, {}, 17, 13, 29);
          check({}, {}, {}, 17, 13, 29, 0.5);
          check({}, {}, {}, 1, 13, 300);
          check({4}, {4}, {4}, 5, 6, 7, 0.3);
          check({2, 3}, {}, {2, 3}, 5, 6, 7);
          check({}, {4}, {4}, 5, 6, 7);
          check({3, 1}, {2}, {3, 2}, 5, 6, 7);
          check({3, 1, 2}, {2, 1}, {3, 2, 2}, 8, 16, 32);
        }
  for (DType type : kNarrow) {
    // Sums of many parts.
    for (bool trans_b : {false, true})
      expect_rounded_product({{}, {}, {}, 40, 144, 3000, false, trans_b}, type,
                             random);
    // More depth, not more calls.
    expect_rounded_product({{3}, {3}, {}, 5, 6, 7, true, false}, type, random);
  }
}

/// The bounds of bf16 next to 1/3 are not 1/3.
TEST(NarrowMatMul, IsRoundedAfterItIsClamped) {
  std::mt19937 random(seed());
  for (DType type : kNarrow)
    expect_rounded_product(
        {{}, {}, {}, 31, 33, 5, false, false, 1.0, false, {-1.0 / 3, 1.0 / 3}},
        type, random);
}

/// c is broadcast, whole, or a row that is scaled.
TEST(NarrowMatMul, WidensWhatIsAdded) {
  std::mt19937 random(seed());
  Context cx;
  for (DType type : kNarrow)
    for (const Shape &shape :
         {Shape{13}, Shape{17, 1}, Shape{17, 13}, Shape{1}})
      for (bool adds : {false, true})
        for (double beta : {1.0, -2.0}) {
          const Value a = random_value({17, 29}, random, type),
                      b = random_value({29, 13}, random, type),
                      c = random_value(shape, random, type),
                      more = random_value({17, 13}, random);
          const Tile at(a, a.whole(), Order::row_major, type),
              bt(b, b.whole(), Order::row_major, type), wide(c, c.whole()),
              narrow(c, c.whole(), Order::row_major, type),
              mt(more, more.whole());
          const Tensor addend = adds ? mt.tensor : Tensor();
          const Box whole{{0, 0}, {17, 13}};
          const Tile expected = blank({17, 13}, whole),
                     found = blank({17, 13}, whole);
          auto run = [&](const Tensor &term, const Tile &y) {
            MatMul product{cx, {at, bt, term, addend}, {y}, 0.5, beta, {}, 0,
                           0};
            product({at, bt, term, addend}, {y});
          };
          run(wide, expected);
          run(narrow, found);
          for_box(whole, [&](const Shape &i) {
            ASSERT_EQ(found.get(i), expected.get(i));
          });
        }
}

/// The message of a product of the given operands.
std::string refusal(Tensors in, const Tensor &y, double alpha = 1,
                    double beta = 1) {
  return error_of(
      [&](Context &cx) { MatMul(cx, in, {y}, alpha, beta, {}, 0, 0); });
}

TEST(NarrowMatMul, RefusesWhatIsNotRoundedOnce) {
  const DType narrow = DType::bf16, wide = DType::f32;
  const Tensor a = tensor({3, 4}, narrow), b = tensor({4, 5}, narrow),
               y = tensor({3, 5}, narrow), row = tensor({5}, narrow), none;
  EXPECT_EQ(refusal({a, b, row, none}, y), "no error");
  EXPECT_EQ(refusal({a, b, none, none}, y, 0.5), "no error");
  EXPECT_EQ(refusal({a, b, none, none}, tensor({3, 5}, DType::f16)),
            "matmul: y: expected type f32 or bf16, found f16");
  EXPECT_EQ(
      refusal({tensor({3, 4}, wide), tensor({4, 5}, wide), none, none}, y),
      "matmul: y: expected type f32, found bf16");
  EXPECT_EQ(refusal({a, b, tensor({5}, DType::f16), none}, y),
            "matmul: c: expected type f32 or bf16, found f16");
  EXPECT_EQ(refusal({a, b, none, tensor({3, 5}, wide)}, y),
            "matmul: y: expected type f32 with an addend, found bf16");
  EXPECT_EQ(refusal({a, b, none, tensor({3, 5}, narrow)}, tensor({3, 5}, wide)),
            "matmul: addend: expected type f32, found bf16");
  EXPECT_EQ(refusal({tensor({2, 3, 4}, narrow), tensor({2, 4, 5}, narrow), none,
                     none},
                    y),
            "matmul: y: expected type f32 where products are added up, found "
            "bf16");
  const std::string unless =
      "matmul: y: expected type f32 unless c is a row of "
      "its type and alpha and beta are 1, found bf16";
  EXPECT_EQ(refusal({a, b, tensor({5}, wide), none}, y), unless);
  EXPECT_EQ(refusal({a, b, tensor({3, 5}, narrow), none}, y), unless);
  EXPECT_EQ(refusal({a, b, tensor({3, 1}, narrow), none}, y), unless);
  EXPECT_EQ(refusal({a, b, row, none}, y, 0.5), unless);
  EXPECT_EQ(refusal({a, b, row, none}, y, 1, 2), unless);
  Context cx;
  try {
    MatMulSums(cx, {a, tensor({3, 5}, narrow)},
               {tensor({4, 5}, narrow), tensor({4}, wide)}, 1, 0, 1, 0);
    ADD_FAILURE() << "no error";
  } catch (const Error &e) {
    EXPECT_STREQ(e.what(), "matmul sums: y: expected type f32, found bf16");
  }
  try {
    MatMulGeluBackward(cx, {a, b, tensor({3, 5}, wide)},
                       {tensor({3, 5}, narrow)}, 0, 0);
    ADD_FAILURE() << "no error";
  } catch (const Error &e) {
    EXPECT_STREQ(e.what(), "matmul gelu: z: expected type bf16, found f32");
  }
}

} // namespace
