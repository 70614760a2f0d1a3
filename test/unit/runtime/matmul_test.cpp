//===- matmul_test.cpp - matrix product, whole and tiled ------------------===//
#include "ffrt/matmul.h"
#include "geometry.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

void check(int64_t m, int64_t n, int64_t k, bool ta, bool tb, double alpha,
           double beta, const Shape *c_shape, int most, std::mt19937 &random) {
  auto shape = [](int64_t r, int64_t c, bool t) {
    return t ? Shape{c, r} : Shape{r, c};
  };
  const Value a = random_value(shape(m, k, ta), random);
  const Value b = random_value(shape(k, n, tb), random);
  const Value c = c_shape ? random_value(*c_shape, random) : Value();
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
    expected(o) = alpha * sum + (c_shape ? beta * c(c_index(o)) : 0.0);
  });
  Context cx;
  for_split({m, n, k}, most, random, [&](const Box &box) {
    auto sub = [&](int r, int s, bool t) {
      return t ? Box{{box.lo[s], box.lo[r]}, {box.size[s], box.size[r]}}
               : Box{{box.lo[r], box.lo[s]}, {box.size[r], box.size[s]}};
    };
    const Tile at(a, sub(0, 2, ta)), bt(b, sub(2, 1, tb));
    const Tile yt = blank({m, n}, sub(0, 1, false));
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
    MatMul product{cx,   {at, bt, term}, {yt},       alpha,
                   beta, int64_t(ta),    int64_t(tb)};
    product({at, bt, term}, {yt});
    add_tile(found, yt, sub(0, 1, false));
  });
  expect_close(found, expected, 5e-5);
}

TEST(MatMul, TransposesScalesAndBias) {
  const std::vector<Shape> c_shapes = {{},      {1},     {13},    {1, 1},
                                       {1, 13}, {17, 1}, {17, 13}};
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    int most = round == 0 ? 1 : 3;
    for (int t = 0; t < 4; ++t) {
      check(17, 13, 29, t & 1, t & 2, 1.0, 1.0, nullptr, most, random);
      check(17, 13, 29, t & 1, t & 2, 0.5, 1.0, nullptr, most, random);
      for (const Shape &c : c_shapes) {
        check(17, 13, 29, t & 1, t & 2, 1.0, 1.0, &c, most, random);
        check(17, 13, 29, t & 1, t & 2, 0.5, -2.0, &c, most, random);
      }
    }
    check(1, 13, 300, false, true, 1.0, 1.0, &c_shapes[2], most, random);
  }
}

} // namespace
