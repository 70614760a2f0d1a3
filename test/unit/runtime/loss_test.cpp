//===- loss_test.cpp - losses element by element, whole and tiled ---------===//
#include "ffrt/loss.h"
#include "geometry.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

Tile scalar() { return blank({}, {{}, {}}); }

template <class Forward, class Backward, class L, class G>
void check_pairs(L loss_of, G gradient_of, std::mt19937 &random, int most,
                 Order order) {
  const Shape shape = {4, 3, 5};
  Value x = random_value(shape, random);
  for (double &v : x.data)
    v *= 100.0;
  Value t = random_value(shape, random);
  for (double &v : t.data)
    v = std::abs(v);
  const double count = double(x.data.size());
  Value gradient(shape), gradient2(shape);
  double loss = 0.0, loss2 = 0.0;
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    double a = float(x.data[i]), b = float(t.data[i]);
    loss += loss_of(a, b) / count;
    gradient.data[i] = gradient_of(a, b) / count;
  }
  Context cx;
  for_split(shape, most, random, [&](const Box &box) {
    const Tile tx(x, box, order), tt(t, box);
    const Tile tl = scalar(), tg = blank(shape, box, order);
    Forward f{cx, {tx, tt}, {tl}};
    f({tx, tt}, {tl});
    loss2 += tl.get({});
    Backward b{cx, {tx, tt}, {tg}};
    int64_t before = allocations();
    b({tx, tt}, {tg});
    EXPECT_EQ(allocations(), before);
    add_tile(gradient2, tg, box);
  });
  EXPECT_NEAR(loss2, loss, 1e-6 * loss);
  expect_close(gradient2, gradient, 2e-6);
}

TEST(Loss, MseAndBce) {
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Order order = round % 2 ? Order::channels_last : Order::row_major;
    int most = round < 2 ? 1 : 3;
    check_pairs<MseForward, MseBackward>(
        [](double y, double t) { return (y - t) * (y - t); },
        [](double y, double t) { return 2.0 * (y - t); }, random, most, order);
    check_pairs<BceForward, BceBackward>(
        [](double x, double t) {
          return std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x)));
        },
        [](double x, double t) { return 1.0 / (1.0 + std::exp(-x)) - t; },
        random, most, order);
  }
}

} // namespace
