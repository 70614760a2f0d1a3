//===- matmul_test.cpp - matrix product, whole and tiled ------------------===//
#include "ffrt/matmul.h"
#include "geometry.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

void check(int64_t m, int64_t n, int64_t k, bool ta, bool tb, double alpha,
           double beta, const Shape *c_shape, int most, std::mt19937 &random,
           DType operand_type, bool adds = false, const Reals &clamp = {}) {
  auto shape = [](int64_t r, int64_t c, bool t) {
    return t ? Shape{c, r} : Shape{r, c};
  };
  const Value a = random_value(shape(m, k, ta), random, operand_type);
  const Value b = random_value(shape(k, n, tb), random, operand_type);
  const Value c = c_shape ? random_value(*c_shape, random) : Value();
  const Value addend = adds ? random_value({m, n}, random) : Value();
  Value expected({m, n}), found({m, n});
  auto c_index = [&](const Shape &o) {
    Shape i(c.shape.size());
    for (std::size_t d = 0; d < i.size(); ++d)
      i[d] = c.shape[d] == 1 ? 0 : o[2 - i.size() + d];
    return i;
  };
  for_box(expected.whole(), [&](const Shape &o) {
    double sum = 0.0;
    for (int64_t i = 0; i < k; ++i)
      sum += a(shape(o[0], i, ta)) * b(shape(i, o[1], tb));
    expected(o) = clamped(alpha * sum + (c_shape ? beta * c(c_index(o)) : 0.0) +
                              (adds ? addend(o) : 0.0),
                          clamp);
  });
  Context cx;
  // What is clamped is not a partial sum.
  for_split({m, n, clamp.empty() ? k : 1}, most, random, [&](Box box) {
    if (!clamp.empty())
      box.size[2] = k;
    auto sub = [&](int r, int s, bool t) {
      return t ? Box{{box.lo[s], box.lo[r]}, {box.size[s], box.size[r]}}
               : Box{{box.lo[r], box.lo[s]}, {box.size[r], box.size[s]}};
    };
    const Tile at(a, sub(0, 2, ta), random_rows(random), operand_type),
        bt(b, sub(2, 1, tb), random_rows(random), operand_type);
    const bool adds_rows = !adds && (!c_shape || *c_shape == Shape{n});
    const Tile yt = blank({m, n}, sub(0, 1, false),
                          adds_rows ? random_rows(random) : Order::row_major);
    Box c_box;
    for (std::size_t d = 0; d < c.shape.size(); ++d) {
      int from = int(2 - c.shape.size() + d);
      bool one = c.shape[d] == 1;
      c_box.lo.push_back(one ? 0 : box.lo[from]);
      c_box.size.push_back(one ? 1 : box.size[from]);
    }
    // c enters one of the partial sums.
    const Tile ct(c, c_box);
    const Tensor term = c_shape && box.lo[2] == 0 ? ct.tensor : absent({m, n});
    const Tile rt(addend, adds ? sub(0, 1, false) : addend.whole());
    const Tensor rest = adds && box.lo[2] == 0 ? rt.tensor : absent({m, n});
    MatMul product{cx,    {at, bt, term, rest}, {yt},       alpha, beta,
                   clamp, int64_t(ta),          int64_t(tb)};
    product({at, bt, term, rest}, {yt});
    add_tile(found, yt, sub(0, 1, false));
  });
  expect_close(found, expected, 5e-5);
}

/// All types of operands.
constexpr DType kOperandTypes[] = {DType::f32, DType::bf16, DType::f16};

TEST(MatMul, TransposesScalesAndBias) {
  const std::vector<Shape> c_shapes = {{},      {1},     {13},    {1, 1},
                                       {1, 13}, {17, 1}, {17, 13}};
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    int most = round == 0 ? 1 : 3;
    for (DType type : kOperandTypes) {
      auto check_case = [&](int64_t m, int64_t k, bool ta, bool tb,
                            double alpha, double beta, const Shape *c) {
        check(m, 13, k, ta, tb, alpha, beta, c, most, random, type);
      };
      for (int t = 0; t < 4; ++t) {
        check_case(17, 29, t & 1, t & 2, 1.0, 1.0, nullptr);
        check_case(17, 29, t & 1, t & 2, 0.5, 1.0, nullptr);
        for (const Shape &c : c_shapes) {
          check_case(17, 29, t & 1, t & 2, 1.0, 1.0, &c);
          check_case(17, 29, t & 1, t & 2, 0.5, -2.0, &c);
        }
      }
      check_case(1, 300, false, true, 1.0, 1.0, &c_shapes[2]);
    }
  }
}

TEST(MatMul, AddsAndClamps) {
  const Shape row = {13}, column = {17, 1}, whole = {17, 13};
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const int most = round == 0 ? 1 : 3;
    for (DType type : kOperandTypes)
      for (const Reals &clamp : {Reals{}, Reals{0.0}, Reals{-0.5, 1.5}})
        for (bool adds : {false, true})
          for (const Shape *c :
               {static_cast<const Shape *>(nullptr), &row, &column, &whole}) {
            check(17, 13, 29, round & 1, round & 2, 1.0, 1.0, c, most, random,
                  type, adds, clamp);
            check(17, 13, 29, round & 1, round & 2, 0.5, -2.0, c, most, random,
                  type, adds, clamp);
          }
  }
}

/// The part of a tensor of `shape` that goes with `box`, a box of the batch
/// dimensions; aligned at the last, whole where the tensor has extent 1.
Box part_of(const Shape &shape, const Box &batch) {
  Box part{Shape(shape.size(), 0), shape};
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) {
    const std::size_t at = d + batch.lo.size() + 2 - shape.size();
    if (shape[d] == 1)
      continue;
    part.lo[d] = batch.lo[at];
    part.size[d] = batch.size[at];
  }
  return part;
}

/// Batches of matrices; the last two extents are those of a, b and y.
void check_batch(const Shape &a_shape, const Shape &b_shape,
                 const Shape &y_shape, bool ta, bool tb, double alpha,
                 const Shape *c_shape, int most, std::mt19937 &random,
                 DType operand_type, bool adds = false,
                 const Reals &clamp = {}) {
  SCOPED_TRACE(::testing::PrintToString(a_shape) + " by " +
               ::testing::PrintToString(b_shape) + " to " +
               ::testing::PrintToString(y_shape));
  const Value a = random_value(a_shape, random, operand_type);
  const Value b = random_value(b_shape, random, operand_type);
  const Value c = c_shape ? random_value(*c_shape, random) : Value();
  const Value addend = adds ? random_value(y_shape, random) : Value();
  Value expected(y_shape), found(y_shape);
  Shape batch(std::max({a_shape.size(), b_shape.size(), y_shape.size()}) - 2,
              1);
  for (const Shape *shape : {&a_shape, &b_shape, &y_shape})
    for (std::size_t d = 0; d + 2 < shape->size(); ++d) {
      int64_t &e = batch[d + batch.size() + 2 - shape->size()];
      e = std::max(e, (*shape)[d]);
    }
  // The element of a tensor, aligned at the last dimension.
  auto index = [](const Shape &shape, const Shape &all) {
    Shape i(shape.size());
    for (std::size_t d = 0; d < i.size(); ++d)
      i[d] = shape[d] == 1 ? 0 : all[d + all.size() - i.size()];
    return i;
  };
  if (c_shape)
    for_box(expected.whole(),
            [&](const Shape &o) { expected(o) = c(index(c.shape, o)); });
  const int64_t m = y_shape[y_shape.size() - 2], n = y_shape.back(),
                k = a_shape[a_shape.size() - (ta ? 2 : 1)];
  Shape space = batch;
  space.insert(space.end(), {m, n, k});
  for_box({Shape(space.size(), 0), space}, [&](const Shape &i) {
    auto at = [&](const Shape &shape, int row, int column) {
      Shape all(i.begin(), i.end() - 3);
      all.insert(all.end(), {i[batch.size() + row], i[batch.size() + column]});
      return index(shape, all);
    };
    expected(at(y_shape, 0, 1)) += alpha *
                                   a(at(a_shape, ta ? 2 : 0, ta ? 0 : 2)) *
                                   b(at(b_shape, tb ? 1 : 2, tb ? 2 : 1));
  });
  for_box(expected.whole(), [&](const Shape &o) {
    expected(o) = clamped(expected(o) + (adds ? addend(o) : 0.0), clamp);
  });
  Context cx;
  bool first = true;
  for_split(batch, most, random, [&](const Box &box) {
    const Tile at(a, part_of(a_shape, box), random_rows(random), operand_type),
        bt(b, part_of(b_shape, box), random_rows(random), operand_type);
    const Box y_box = part_of(y_shape, box);
    const bool adds_rows =
        !adds && clamp.empty() && (!c_shape || *c_shape == Shape{n});
    const Tile yt = blank(y_shape, y_box,
                          adds_rows ? random_rows(random) : Order::row_major),
               ct(c, c.whole());
    const Tensor term = c_shape && first ? ct.tensor : absent(y_shape);
    first = false;
    const Tile rt(addend, adds ? y_box : addend.whole());
    const Tensor rest = adds ? rt.tensor : absent(y_shape);
    MatMul product{cx,    {at, bt, term, rest}, {yt},       alpha, 1.0,
                   clamp, int64_t(ta),          int64_t(tb)};
    product({at, bt, term, rest}, {yt});
    product({at, bt, term, rest}, {yt}); // leaves nothing behind
    add_tile(found, yt, y_box);
  });
  expect_close(found, expected, 5e-5);
}

TEST(MatMul, BatchesAndBroadcast) {
  const Shape row = {6};
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const int most = round == 0 ? 1 : 3;
    for (int t = 0; t < 4; ++t) {
      const bool ta = t & 1, tb = t & 2;
      // Matrices of 5x7 by 7x6 after the given batch dimensions.
      auto check = [&](Shape a, Shape b, Shape y, double alpha = 1.0,
                       const Shape *c = nullptr, int most_parts = 1,
                       bool adds = false, const Reals &clamp = {}) {
        a.insert(a.end(), {ta ? 7 : 5, ta ? 5 : 7});
        b.insert(b.end(), {tb ? 6 : 7, tb ? 7 : 6});
        y.insert(y.end(), {5, 6});
        for (DType type : kOperandTypes)
          check_batch(a, b, y, ta, tb, alpha, c, most_parts, random, type, adds,
                      clamp);
      };
      check({4}, {4}, {4}, 0.5, nullptr, most);
      check({2, 3}, {2, 3}, {2, 3}, 1.0, nullptr, most);
      check({4}, {}, {4}, 1.0, nullptr, most);
      check({2, 3}, {}, {2, 3}, 1.0, &row);
      check({}, {4}, {4}, 1.0, nullptr, most);
      check({3, 1}, {2}, {3, 2}, 1.0, nullptr, most);
      check({3, 1, 2}, {2, 1}, {3, 2, 2}, 1.0, nullptr, most);
      // A matrix for every one of the result.
      const Shape whole = {5, 6}, four = {4, 5, 6}, pairs = {3, 2, 5, 6},
                  summed = {2, 1, 5, 6};
      check({4}, {4}, {4}, 0.5, &four);
      check({4}, {}, {4}, 1.0, &four);
      check({3, 1}, {2}, {3, 2}, 1.0, &pairs);
      check({4}, {4}, {}, 0.5, &whole);
      check({2, 3}, {2, 3}, {2, 1}, 1.0, &summed);
      // Summed: the whole batch, its outer, its inner dimension.
      check({4}, {4}, {}, 1.0, nullptr, most);
      check({2, 3}, {2, 3}, {}, 0.5, &row);
      check({4, 2}, {4, 1}, {2}, 1.0, nullptr, most);
      check({2, 3}, {2, 3}, {2, 1}, 1.0, &row);
      check({2, 3, 2}, {2, 3, 2}, {2, 1, 2}, 1.0, nullptr, most);
      check({2, 3}, {3}, {1, 3}, 1.0, nullptr, most);
      // Clamped after all that is added up, in one call or in several.
      for (const Reals &clamp : {Reals{}, Reals{0.0}, Reals{-0.5, 1.5}})
        for (bool adds : {false, true}) {
          check({4}, {4}, {4}, 0.5, nullptr, most, adds, clamp);
          check({2, 3}, {}, {2, 3}, 1.0, &row, 1, adds, clamp);
          check({4}, {4}, {4}, 1.0, &four, 1, adds, clamp);
          check({4}, {4}, {}, 1.0, nullptr, 1, adds, clamp);
          check({2, 3}, {2, 3}, {2, 1}, 1.0, &row, 1, adds, clamp);
        }
    }
  }
}

/// Of [batch, k, m] and [batch, k, n]; `a` that is not transposed has no batch
/// and is [m, k]. What the sums lack is not split.
void check_sums(const Shape &batch, int64_t m, int64_t n, int64_t k, bool of_a,
                bool other_transposed, int most, std::mt19937 &random,
                DType type) {
  // The operand that is summed, and the other one, whose own dimension differs.
  const int64_t own = of_a ? m : n, rest = of_a ? n : m;
  auto with = [](Shape shape, int64_t rows, int64_t columns) {
    shape.insert(shape.end(), {rows, columns});
    return shape;
  };
  const Value summed = random_value(with(batch, k, own), random, type),
              other = random_value(other_transposed ? with(batch, rest, k)
                                                    : with(batch, k, rest),
                                   random, type);
  Value product(of_a ? Shape{own, rest} : Shape{rest, own}), sums({own});
  Value found_product(product.shape), found_sums({own});
  for_box(summed.whole(), [&](const Shape &i) {
    const int64_t column = i.back(), depth = i[i.size() - 2];
    sums({column}) += summed(i);
    for (int64_t j = 0; j < rest; ++j) {
      Shape at(i.begin(), i.end() - 2);
      at = other_transposed ? with(at, j, depth) : with(at, depth, j);
      product(of_a ? Shape{column, j} : Shape{j, column}) +=
          0.5 * summed(i) * other(at);
    }
  });
  Context cx;
  // Batch, depth and own dimension.
  for_split(summed.shape, most, random, [&](const Box &box) {
    Box part = box, result{{box.lo.back()}, {box.size.back()}};
    const std::size_t last = box.lo.size() - 1;
    part.lo[last] = 0;
    part.size[last] = rest;
    if (other_transposed) {
      std::swap(part.lo[last], part.lo[last - 1]);
      std::swap(part.size[last], part.size[last - 1]);
    }
    Box matrix{{0, 0}, {rest, rest}};
    matrix.lo[of_a ? 0 : 1] = box.lo.back();
    matrix.size[of_a ? 0 : 1] = box.size.back();
    const Tile s(summed, box, random_rows(random), type),
        o(other, part, random_rows(random), type);
    const Tile y = blank(product.shape, matrix), r = blank({own}, result);
    const Tensor a = of_a ? s.tensor : o.tensor, b = of_a ? o.tensor : s.tensor;
    const bool trans_a = of_a || !other_transposed,
               trans_b = of_a && other_transposed;
    MatMulSums kernel(cx, {a, b}, {y, r}, 0.5, of_a ? 0 : 1, trans_a, trans_b);
    kernel({a, b}, {y, r});
    add_tile(found_product, y, matrix);
    add_tile(found_sums, r, result);
  });
  expect_close(found_product, product, 5e-5);
  expect_close(found_sums, sums, 5e-5);
}

TEST(MatMulSums, OfEitherOperand) {
  for (unsigned round = 0; round < 3; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const int most = round == 0 ? 1 : 3;
    for (DType type : kOperandTypes)
      for (bool of_a : {false, true})
        for (bool transposed : {false, true})
          // Also as one would compute it that has no sums of odd depth.
          for (int64_t k : {28, 29}) {
            check_sums({}, 17, 13, k, of_a, transposed, most, random, type);
            check_sums({2, 3}, 5, 6, k, of_a, transposed, most, random, type);
            check_sums({}, 1, 1, k, of_a, transposed, most, random, type);
          }
  }
}

} // namespace
