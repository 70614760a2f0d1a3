//===- softmax_test.cpp - softmax, whole and tiled ------------------------===//
#include "ffrt/softmax.h"
#include "geometry.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

template <class Kernel>
void call(const Ints &axes, bool log, Tensors in, Tensors out) {
  Context cx;
  Kernel kernel{cx, in, out, axes, log};
  int64_t before = allocations();
  kernel(in, out);
  EXPECT_EQ(allocations(), before);
}

/// One softmax with its values in double precision.
struct Case {
  Ints axes;
  bool log;
  Order order;
  Value x, dy, y, dx;
  Value top, sum, dot; ///< without the axes

  Case(const Shape &shape, const Ints &axes, bool log, Order order,
       std::mt19937 &random)
      : axes(axes), log(log), order(order), x(random_value(shape, random)),
        dy(random_value(shape, random)), y(shape), dx(shape),
        top(set_of(shape), -1e30), sum(top.shape), dot(top.shape) {
    for (double &v : x.data)
      v = double(float(v * 20.0 + 500.0));
    auto each = [&](auto f) {
      for_box(x.whole(), [&](const Shape &i) { f(i, set_of(i)); });
    };
    using S = const Shape &;
    each([&](S i, S s) { top(s) = std::max(top(s), x(i)); });
    each([&](S i, S s) { sum(s) += std::exp(x(i) - top(s)); });
    each([&](S i, S s) {
      y(i) = std::exp(x(i) - top(s)) / sum(s);
      dot(s) += dy(i) * (log ? 1 : y(i));
    });
    each([&](S i, S s) {
      dx(i) = log ? dy(i) - y(i) * dot(s) : y(i) * (dy(i) - dot(s));
      y(i) = log ? std::log(y(i)) : y(i);
    });
  }

  Shape set_of(const Shape &i) const {
    Shape kept;
    for (std::size_t d = 0; d < i.size(); ++d)
      if (std::count(axes.begin(), axes.end(), int64_t(d)) == 0)
        kept.push_back(i[d]);
    return kept;
  }
  Box set_of(const Box &box) const {
    return {set_of(box.lo), set_of(box.size)};
  }
};

/// Tiles that do not split the axes.
void check_fused(const Case &c, int most, std::mt19937 &random) {
  const Shape &shape = c.x.shape;
  Value y(shape), dx(shape);
  std::vector<int> keep(c.axes.begin(), c.axes.end());
  for_split(
      shape, most, random,
      [&](const Box &box) {
        const Tile x(c.x, box, c.order), ty = blank(shape, box, c.order);
        call<SoftmaxForward>(c.axes, c.log, {x}, {ty});
        add_tile(y, ty, box);
        const Tile dy(c.dy, box, c.order), tv(c.y, box, c.order);
        const Tile to = blank(shape, box, c.order);
        call<SoftmaxBackward>(c.axes, c.log, {dy, tv}, {to});
        add_tile(dx, to, box);
      },
      keep);
  expect_close(y, c.y, 2e-6);
  expect_close(dx, c.dx, 1e-5);
}

/// Any tiles: maxima and sums are combined over them.
void check_phases(const Case &c, int most, std::mt19937 &random) {
  const Shape &shape = c.x.shape;
  Value top(c.top.shape, -1e30), sum(top.shape), dot(top.shape), y(shape),
      dx(shape);
  std::vector<Box> boxes;
  for_split(shape, most, random, [&](const Box &box) { boxes.push_back(box); });
  auto whole = [&](const Value &value, const Box &box) {
    return Tile(value, box, c.order);
  };
  auto kept = [&](const Value &value, const Box &box) {
    return Tile(value, c.set_of(box));
  };
  for (const Box &box : boxes) {
    const Tile out = blank(top.shape, c.set_of(box));
    call<SoftmaxMax>(c.axes, c.log, {whole(c.x, box)}, {out});
    for_box(c.set_of(box),
            [&](const Shape &i) { top(i) = std::max(top(i), out.get(i)); });
  }
  for (const Box &box : boxes) {
    const Tile out = blank(top.shape, c.set_of(box));
    call<SoftmaxSum>(c.axes, c.log, {whole(c.x, box), kept(top, box)}, {out});
    add_tile(sum, out, c.set_of(box));
    const Tile part = blank(top.shape, c.set_of(box));
    call<SoftmaxBackwardSum>(c.axes, c.log, {whole(c.dy, box), whole(c.y, box)},
                             {part});
    add_tile(dot, part, c.set_of(box));
  }
  for (const Box &box : boxes) {
    const Tile out = blank(shape, box, c.order),
               to = blank(shape, box, c.order);
    call<SoftmaxApply>(c.axes, c.log,
                       {whole(c.x, box), kept(top, box), kept(sum, box)},
                       {out});
    add_tile(y, out, box);
    call<SoftmaxBackwardApply>(
        c.axes, c.log, {whole(c.dy, box), whole(c.y, box), kept(dot, box)},
        {to});
    add_tile(dx, to, box);
  }
  expect_close(y, c.y, 2e-6);
  expect_close(dx, c.dx, 1e-5);
}

void check(const Shape &shape, const Ints &axes, Order order, int most,
           std::mt19937 &random) {
  for (bool log : {false, true}) {
    const Case c(shape, axes, log, order, random);
    check_fused(c, most, random);
    check_phases(c, most, random);
  }
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

/// As much as a warp, or a block, has registers for, and more.
TEST(Softmax, LongSets) {
  std::mt19937 random(seed());
  for (int64_t n : {512, 600, 9001})
    check({3, n}, {1}, Order::row_major, 1, random);
}

} // namespace
