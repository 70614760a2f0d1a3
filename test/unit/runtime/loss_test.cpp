//===- loss_test.cpp - loss functions, whole and tiled --------------------===//
#include "common/target.h"
#include "ffrt/error.h"
#include "ffrt/loss.h"
#include "geometry.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

Tile scalar() { return blank({}, {{}, {}}); }

void check_cross_entropy(const Shape &shape, int axis, Order order, int most,
                         std::mt19937 &random) {
  Value x = random_value(shape, random);
  for (double &v : x.data)
    v *= 10.0;
  auto drop = [&](Shape s) {
    s.erase(s.begin() + axis);
    return s;
  };
  auto with = [&](Shape s, int64_t c) {
    s.insert(s.begin() + axis, c);
    return s;
  };
  Value target(drop(shape)), gradient(shape), gradient2(shape);
  const double count = double(target.data.size());
  double loss = 0.0, loss2 = 0.0;
  for_box(target.whole(), [&](const Shape &i) {
    int64_t label = int64_t(random() % unsigned(shape[axis]));
    target(i) = double(label);
    double sum = 0.0;
    for (int64_t c = 0; c < shape[axis]; ++c)
      sum += std::exp(double(float(x(with(i, c)))));
    loss += (std::log(sum) - double(float(x(with(i, label))))) / count;
    for (int64_t c = 0; c < shape[axis]; ++c)
      gradient(with(i, c)) =
          (std::exp(double(float(x(with(i, c))))) / sum - (c == label)) / count;
  });
  Context cx;
  for_split(shape, most, random,
            [&](const Box &box) {
              const Tile tx(x, box, order);
              const Tile tt(target, {drop(box.lo), drop(box.size)},
                            Order::row_major, DType::i32);
              const Tile tl = scalar();
              CrossEntropyForward f{cx, {tx, tt}, {tl}, axis};
              int64_t before = allocations();
              f({tx, tt}, {tl});
              EXPECT_EQ(allocations(), before);
              loss2 += tl.get({});
              const Tile tg = blank(shape, box, order);
              CrossEntropyBackward b{cx, {tx, tt}, {tg}, axis};
              b({tx, tt}, {tg});
              add_tile(gradient2, tg, box);
            },
            {axis});
  EXPECT_NEAR(loss2, loss, 2e-6 * std::abs(loss));
  expect_close(gradient2, gradient, 1e-6);
}

TEST(Loss, CrossEntropy) {
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Order order = round % 2 ? Order::channels_last : Order::row_major;
    int most = round < 2 ? 1 : 3;
    check_cross_entropy({9, 10}, 1, order, most, random);
    check_cross_entropy({10}, 0, order, most, random);
    check_cross_entropy({3, 10, 4, 5}, 1, order, most, random);
    check_cross_entropy({3, 4, 10}, 2, order, most, random);
  }
}

/// As many classes as a warp, or a block, has registers for, and more.
TEST(Loss, CrossEntropyOfManyClasses) {
  std::mt19937 random(seed());
  for (int64_t classes : {33, 600, 9001})
    check_cross_entropy({3, classes}, 1, Order::row_major, 1, random);
}

TEST(Loss, TargetsAreClasses) {
  std::mt19937 random(seed());
  const Value x = random_value({2, 3}, random);
  Context cx;
  for (double label : {-1.0, 3.0}) {
    Value target(Shape{2});
    target.data = {2.0, label};
    const Tile tx(x, x.whole()),
        tt(target, target.whole(), Order::row_major, DType::i32);
    const Tile tl = scalar();
    CrossEntropyForward f{cx, {tx, tt}, {tl}, 1};
    try {
      f({tx, tt}, {tl});
      finish_target();
      ADD_FAILURE() << "expected an error";
    } catch (const Error &error) {
      EXPECT_EQ(std::string(error.what()),
                "cross entropy forward: expected targets from 0 to 2, found " +
                    std::to_string(int(label)));
    }
  }
}

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
