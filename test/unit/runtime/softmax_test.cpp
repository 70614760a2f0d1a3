//===- softmax_test.cpp - softmax, whole and tiled ------------------------===//
#include "ffrt/softmax.h"
#include "geometry.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

void check(const Shape &shape, const Ints &axes, Order order, int most,
           std::mt19937 &random) {
  Value x = random_value(shape, random);
  for (double &v : x.data)
    v = v * 20.0 + 500.0;
  const Value dy = random_value(shape, random);
  auto joint = [&](int d) {
    return std::count(axes.begin(), axes.end(), d) > 0;
  };
  Shape sets = shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (joint(int(d)))
      sets[d] = 1;
  auto set_of = [&](Shape i) {
    for (std::size_t d = 0; d < i.size(); ++d)
      if (joint(int(d)))
        i[d] = 0;
    return i;
  };
  Value sum(sets), dot(sets), y(shape), dx(shape), y2(shape), dx2(shape);
  for_box(x.whole(), [&](const Shape &i) {
    sum(set_of(i)) += std::exp(double(float(x(i))) - 500.0);
  });
  for_box(x.whole(), [&](const Shape &i) {
    y(i) = std::exp(double(float(x(i))) - 500.0) / sum(set_of(i));
    dot(set_of(i)) += y(i) * dy(i);
  });
  for_box(x.whole(),
          [&](const Shape &i) { dx(i) = y(i) * (dy(i) - dot(set_of(i))); });
  Context cx;
  std::vector<int> keep(axes.begin(), axes.end());
  for_split(
      shape, most, random,
      [&](const Box &box) {
        const Tile tx(x, box, order), ty = blank(shape, box, order);
        SoftmaxForward f{cx, {tx}, {ty}, axes};
        int64_t before = allocations();
        f({tx}, {ty});
        EXPECT_EQ(allocations(), before);
        add_tile(y2, ty, box);
        const Tile tg(dy, box, order), tv(y, box, order);
        const Tile to = blank(shape, box, order);
        SoftmaxBackward b{cx, {tg, tv}, {to}, axes};
        b({tg, tv}, {to});
        add_tile(dx2, to, box);
      },
      keep);
  expect_close(y2, y, 2e-6);
  expect_close(dx2, dx, 2e-6);
}

TEST(Softmax, AxesOrdersAndTiles) {
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Order order = round % 2 ? Order::channels_last : Order::row_major;
    int most = round < 2 ? 1 : 3;
    check({7, 33}, {1}, order, most, random);
    check({7, 33}, {0}, order, most, random);
    check({3, 4, 5, 6}, {1}, order, most, random);
    check({3, 4, 5, 6}, {1, 2, 3}, order, most, random);
    check({3, 4, 5, 6}, {0, 2}, order, most, random);
  }
}

} // namespace
