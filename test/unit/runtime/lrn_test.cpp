//===- lrn_test.cpp - local response normalisation, whole and tiled -------===//
#include "ffrt/lrn.h"
#include "geometry.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

void check(const Shape &shape, int64_t size, double alpha, double beta,
           double bias, Order order, int most, std::mt19937 &random) {
  Value x = random_value(shape, random);
  for (double &v : x.data)
    v *= 3.0;
  const Value dy = random_value(shape, random);
  const int64_t below = (size - 1) / 2, above = size - 1 - below;
  Value y(shape), scale(shape), dx(shape), y2(shape), scale2(shape), dx2(shape);
  auto window = [&](const Shape &i, auto f) {
    for (int64_t c = i[1] - below; c <= i[1] + above; ++c)
      if (c >= 0 && c < shape[1]) {
        Shape j = i;
        j[1] = c;
        f(j);
      }
  };
  for_box(x.whole(), [&](const Shape &i) {
    double sum = 0.0;
    window(i, [&](const Shape &j) { sum += x(j) * x(j); });
    scale(i) = bias + alpha / double(size) * sum;
    y(i) = x(i) * std::pow(scale(i), -beta);
  });
  for_box(x.whole(), [&](const Shape &i) {
    dx(i) += dy(i) * std::pow(scale(i), -beta);
    window(i, [&](const Shape &j) {
      dx(j) -= dy(i) * x(i) * beta * std::pow(scale(i), -beta - 1.0) * 2.0 *
               alpha / double(size) * x(j);
    });
  });
  Context cx;
  for_split(shape, most, random, [&](const Box &box) {
    Box halo = box;
    halo.lo[1] -= below;
    halo.size[1] += below + above;
    const Tile tx(x, halo.clipped(shape), order);
    const Tile ty = blank(shape, box, order), ts = blank(shape, box, order);
    LrnForward k{cx, {tx}, {ty, ts}, alpha, beta, bias, size};
    int64_t before = allocations();
    k({tx}, {ty, ts});
    EXPECT_EQ(allocations(), before);
    add_tile(y2, ty, box);
    add_tile(scale2, ts, box);
    const Tile only = blank(shape, box, order);
    LrnForward without{cx,   {tx}, {only, absent(shape)}, alpha, beta,
                       bias, size};
    without({tx}, {only, absent(shape)});
    EXPECT_EQ(only.bytes, ty.bytes);
  });
  expect_close(y2, y);
  expect_close(scale2, scale);
  for_split(shape, most, random, [&](const Box &box) {
    Box halo = box;
    halo.lo[1] -= above;
    halo.size[1] += below + above;
    halo = halo.clipped(shape);
    const Tile ty(dy, halo, order), tx(x, halo, order), ts(scale, halo, order);
    const Tile to = blank(shape, box, order);
    LrnBackward k{cx, {ty, tx, ts}, {to}, alpha, beta, bias, size};
    int64_t before = allocations();
    k({ty, tx, ts}, {to});
    EXPECT_EQ(allocations(), before);
    add_tile(dx2, to, box);
  });
  expect_close(dx2, dx);
}

TEST(Lrn, WholeAndTiles) {
  for (unsigned round = 0; round < 8; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Order order = round % 2 ? Order::row_major : Order::channels_last;
    int most = round < 2 ? 1 : 3;
    check({2, 70, 3, 4}, 5, 0.1, 0.75, 1.0, order, most, random);
    check({2, 9, 3, 4}, 4, 0.3, 0.6, 2.0, order, most, random);
    check({3, 7}, 3, 1.0, 0.75, 1.0, Order::row_major, most, random);
  }
}

} // namespace
