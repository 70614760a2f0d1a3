//===- matmul_gelu_test.cpp - products with GELU, and its gradient --------===//
#include "ffrt/matmul.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ffrt;
using namespace ffrt_test;

namespace {

struct Problem {
  Shape batch; ///< of a and the results; b has none
  int64_t m, n, k;
  bool trans_a, trans_b;
  bool adds;  ///< a row, forward
  bool keeps; ///< z, forward
  DType type;
  bool tf32;
};

double gate(double x) {
  return 1 / (1 + std::exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)));
}
double gelu(double x) { return x * gate(x); }
double slope(double x) {
  const double s = gate(x);
  return s + x * s * (1 - s) * 1.5957691216057308 * (1 + 0.134145 * x * x);
}

Shape with(Shape shape, int64_t rows, int64_t columns, bool transposed) {
  if (transposed)
    std::swap(rows, columns);
  shape.insert(shape.end(), {rows, columns});
  return shape;
}

/// Without the last two dimensions.
Shape batch_of(const Shape &index) {
  return Shape(index.begin(), index.end() - 2);
}

/// op(a) op(b) of tiles of what is not contracted.
class Product {
public:
  Product(const Problem &p, std::mt19937 &random)
      : p(p),
        a(random_value(with(p.batch, p.m, p.k, p.trans_a), random, p.type)),
        b(random_value(with({}, p.k, p.n, p.trans_b), random, p.type)),
        shape(with(p.batch, p.m, p.n, false)) {
    cx.tf32 = p.tf32;
  }

  double operator()(const Shape &i) const {
    const int64_t row = i[i.size() - 2], column = i.back();
    double sum = 0;
    for (int64_t k = 0; k < p.k; ++k)
      sum += a(with(batch_of(i), row, k, p.trans_a)) *
             b(with({}, k, column, p.trans_b));
    return sum;
  }

  Tile tile_of_a(const Box &box) const {
    const std::size_t last = box.lo.size() - 1;
    return {a,
            {with(batch_of(box.lo), box.lo[last - 1], 0, p.trans_a),
             with(batch_of(box.size), box.size[last - 1], p.k, p.trans_a)},
            Order::row_major,
            p.type};
  }
  Tile tile_of_b(const Box &box) const {
    return {b,
            {with({}, 0, box.lo.back(), p.trans_b),
             with({}, p.k, box.size.back(), p.trans_b)},
            Order::row_major,
            p.type};
  }

  const Problem p;
  const Value a, b;
  const Shape shape; ///< of results
  Context cx;
};

/// Values that were computed in f32, or by a library about so, and then rounded
/// to `type`, once.
void expect_rounded_once(const Value &found, const Value &exact, DType type) {
  if (type == DType::f32)
    return expect_close(found, exact, 5e-5);
  const int digits = type == DType::bf16 ? 8 : 11;
  for_box(exact.whole(), [&](const Shape &i) {
    const double x = exact(i), half = std::exp2(std::ilogb(x) - digits);
    EXPECT_NEAR(found(i), x, 1.25 * half + 2e-4 * std::fabs(x) + 2e-6);
  });
}

void check_forward(const Problem &p, int most, std::mt19937 &random) {
  Product product(p, random);
  const Value c = random_value({p.n}, random, p.type);
  Value z(product.shape), y(product.shape);
  for_box(z.whole(), [&](const Shape &i) {
    z(i) = product(i) + (p.adds ? c({i.back()}) : 0);
    y(i) = gelu(z(i));
  });
  Value found_z(product.shape), found_y(product.shape);
  for_split(product.shape, most, random, [&](const Box &box) {
    const Tile a = product.tile_of_a(box), b = product.tile_of_b(box);
    const Tile row(c, {{box.lo.back()}, {box.size.back()}}, Order::row_major,
                   p.type),
        own_z = blank(product.shape, box, Order::row_major, p.type),
        own_y = blank(product.shape, box, Order::row_major, p.type);
    const Tensor none, tc = p.adds ? row.tensor : none,
                       tz = p.keeps ? own_z.tensor : none;
    MatMulGelu kernel(product.cx, {a, b, tc}, {tz, own_y}, p.trans_a,
                      p.trans_b);
    kernel({a, b, tc}, {tz, own_y});
    add_tile(found_y, own_y, box);
    if (p.keeps)
      add_tile(found_z, own_z, box);
  });
  expect_rounded_once(found_y, y, p.type);
  if (p.keeps)
    expect_rounded_once(found_z, z, p.type);
}

void check_backward(const Problem &p, int most, std::mt19937 &random) {
  Product product(p, random);
  const Value z = random_value(product.shape, random, p.type);
  Value dz(product.shape), found(product.shape);
  for_box(dz.whole(),
          [&](const Shape &i) { dz(i) = product(i) * slope(z(i)); });
  for_split(product.shape, most, random, [&](const Box &box) {
    const Tile a = product.tile_of_a(box), b = product.tile_of_b(box),
               own_z(z, box, Order::row_major, p.type),
               own = blank(product.shape, box, Order::row_major, p.type);
    MatMulGeluBackward kernel(product.cx, {a, b, own_z}, {own}, p.trans_a,
                              p.trans_b);
    kernel({a, b, own_z}, {own});
    add_tile(found, own, box);
  });
  expect_rounded_once(found, dz, p.type);
}

/// In one product and in several, with a length of rows that libraries take
/// and one that they do not.
template <class Check> void check_all(Check check) {
  for (unsigned round = 0; round < 3; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const int most = round == 0 ? 1 : 3;
    for (bool tf32 : {false, true})
      for (DType type : {DType::f32, DType::bf16, DType::f16})
        for (int t = 0; t < 4; ++t)
          for (const Shape &batch : {Shape{}, Shape{3, 2}})
            for (int64_t n : {16, 13}) {
              const bool is_odd = t & 1;
              check({batch, 5, n, 7, is_odd, (t & 2) != 0, is_odd, true, type,
                     tf32},
                    most, random);
              check({batch, 1, n, 7, is_odd, (t & 2) != 0, !is_odd, round == 1,
                     type, tf32},
                    most, random);
            }
  }
}

TEST(MatMulGelu, OfProducts) { check_all(check_forward); }

TEST(MatMulGelu, GradientOfProducts) { check_all(check_backward); }

} // namespace
