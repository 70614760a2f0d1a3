//===- conv_test.cpp - convolutions against plain loops, whole and tiled --===//
#include "ffrt/conv.h"
#include "geometry.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

struct Problem {
  int64_t n, c, h, w, oc, group;
  Ints kernel, dilations, pads, strides;
  Shape x() const { return {n, c, h, w}; }
  Shape weights() const { return {oc, c / group, kernel[0], kernel[1]}; }
  Shape y() const {
    Shape s = {n, oc, 0, 0};
    const int64_t in[2] = {h, w};
    for (int i = 0; i < 2; ++i)
      s[2 + i] =
          (in[i] + pads[i] + pads[i + 2] - (kernel[i] - 1) * dilations[i] - 1) /
              strides[i] +
          1;
    return s;
  }
};

/// Calls f(x index, w index, y index) for all products.
template <class F> void for_products(const Problem &p, F &&f) {
  const Shape y = p.y();
  const int64_t per = p.c / p.group, outs = p.oc / p.group;
  for_box({Shape(4, 0), y}, [&](const Shape &o) {
    for (int64_t c = 0; c < per; ++c)
      for (int64_t kh = 0; kh < p.kernel[0]; ++kh)
        for (int64_t kw = 0; kw < p.kernel[1]; ++kw) {
          int64_t ih = o[2] * p.strides[0] - p.pads[0] + kh * p.dilations[0];
          int64_t iw = o[3] * p.strides[1] - p.pads[1] + kw * p.dilations[1];
          if (ih < 0 || ih >= p.h || iw < 0 || iw >= p.w)
            continue;
          f(Shape{o[0], o[1] / outs * per + c, ih, iw}, Shape{o[1], c, kh, kw},
            o);
        }
  });
}

/// What a tile works on: a box of the output positions and channels, and a
/// range of input channels within each group.
struct Tiling {
  Box y;                // n, oc, oh, ow
  int64_t c_lo, c_size; // input channels within a group
  int64_t g_lo, g_size; // groups
};

void for_tiles(const Problem &p, int most, std::mt19937 &random,
               const std::function<void(const Tiling &)> &f) {
  const Shape y = p.y();
  const int64_t outs = p.oc / p.group;
  // Groups are cut, or the output channels of each group, not both.
  const bool by_group = p.group > 1 && random() % 2;
  const Shape groups =
      by_group ? cut(p.group, most, random) : Shape{0, p.group};
  const Shape channels = cut(p.c / p.group, most, random);
  for (std::size_t g = 0; g + 1 < groups.size(); ++g)
    for (std::size_t c = 0; c + 1 < channels.size(); ++c) {
      Shape part = {y[0], 0, y[2], y[3]};
      auto emit = [&](int64_t g_lo, int64_t g_size, int64_t oc_lo,
                      int64_t oc_size) {
        part[1] = oc_size;
        for_split(part, most, random,
                  [&](const Box &b) {
                    Box box = b;
                    box.lo[1] += oc_lo;
                    f({box, channels[c], channels[c + 1] - channels[c], g_lo,
                       g_size});
                  },
                  {1});
      };
      if (by_group || (p.group > 1 && random() % 2)) {
        emit(groups[g], groups[g + 1] - groups[g], groups[g] * outs,
             (groups[g + 1] - groups[g]) * outs);
        continue;
      }
      for (int64_t one = groups[g]; one < groups[g + 1]; ++one) {
        const Shape oc = cut(outs, most, random);
        for (std::size_t o = 0; o + 1 < oc.size(); ++o)
          emit(one, 1, one * outs + oc[o], oc[o + 1] - oc[o]);
      }
    }
}

/// Activation channels of a tile, packed: local groups times channels.
Value pack(const Value &x, const Problem &p, const Tiling &t) {
  const int64_t per = p.c / p.group;
  Value packed({x.shape[0], t.g_size * t.c_size, x.shape[2], x.shape[3]});
  for_box(packed.whole(), [&](const Shape &i) {
    packed(i) =
        x({i[0], (t.g_lo + i[1] / t.c_size) * per + t.c_lo + i[1] % t.c_size,
           i[2], i[3]});
  });
  return packed;
}

/// The input box that the output positions of `t` read, over packed channels.
Box input_box(const Problem &p, const Tiling &t) {
  Box box{{t.y.lo[0], 0, 0, 0}, {t.y.size[0], t.g_size * t.c_size, 0, 0}};
  for (int i = 0; i < 2; ++i) {
    int64_t first = t.y.lo[2 + i] * p.strides[i] - p.pads[i];
    int64_t last = (t.y.hi(2 + i) - 1) * p.strides[i] - p.pads[i] +
                   (p.kernel[i] - 1) * p.dilations[i];
    box.lo[2 + i] = first;
    box.size[2 + i] = last - first + 1;
  }
  Shape all = {p.n, t.g_size * t.c_size, p.h, p.w};
  return box.clipped(all);
}

Box weight_box(const Problem &p, const Tiling &t) {
  return {{t.y.lo[1], t.c_lo, 0, 0},
          {t.y.size[1], t.c_size, p.kernel[0], p.kernel[1]}};
}

void check_forward(const Problem &p, Order order, int most,
                   std::mt19937 &random) {
  const Value x = random_value(p.x(), random);
  const Value w = random_value(p.weights(), random);
  const Value b = random_value({p.oc}, random);
  Value expected(p.y()), found(p.y());
  for_box(expected.whole(), [&](const Shape &o) { expected(o) = b({o[1]}); });
  for_products(p, [&](const Shape &i, const Shape &k, const Shape &o) {
    expected(o) += x(i) * w(k);
  });
  Context cx;
  for_tiles(p, most, random, [&](const Tiling &t) {
    const Tile tx(pack(x, p, t), input_box(p, t), order);
    const Tile tw(w, weight_box(p, t));
    // The bias enters one of the partial sums.
    const Tile tb(b, {{t.y.lo[1]}, {t.y.size[1]}});
    const Tensor bias = t.c_lo == 0 ? tb.tensor : absent({p.oc});
    const Tile ty = blank(p.y(), t.y, order);
    Conv2dForward k{cx,      {tx, tw, bias}, {ty},     p.dilations,
                    p.group, p.pads,         p.strides};
    k({tx, tw, bias}, {ty});
    add_tile(found, ty, t.y);
  });
  expect_close(found, expected, 5e-5);
}

void check_backward_weights(const Problem &p, Order order, int most,
                            std::mt19937 &random) {
  const Value x = random_value(p.x(), random);
  const Value dy = random_value(p.y(), random);
  Value expected(p.weights()), found(p.weights());
  for_products(p, [&](const Shape &i, const Shape &k, const Shape &o) {
    expected(k) += x(i) * dy(o);
  });
  Context cx;
  for_tiles(p, most, random, [&](const Tiling &t) {
    const Tile tx(pack(x, p, t), input_box(p, t), order);
    const Tile ty(dy, t.y, order);
    const Tile tw = blank(p.weights(), weight_box(p, t));
    Conv2dBackwardWeights k{cx,      {tx, ty}, {tw},     p.dilations,
                            p.group, p.pads,   p.strides};
    k({tx, ty}, {tw});
    add_tile(found, tw, weight_box(p, t));
  });
  expect_close(found, expected, 2e-4);
}

int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

void check_backward_data(const Problem &p, Order order, int most,
                         std::mt19937 &random) {
  const Value w = random_value(p.weights(), random);
  const Value dy = random_value(p.y(), random);
  const int64_t per = p.c / p.group;
  Value expected(p.x()), found(p.x());
  for_products(p, [&](const Shape &i, const Shape &k, const Shape &o) {
    expected(i) += w(k) * dy(o);
  });
  Context cx;
  // Channels are cut as forward; positions of dx anew.
  for_tiles(p, most, random, [&](const Tiling &t) {
    if (t.y.lo[0] || t.y.lo[2] || t.y.lo[3])
      return;
    const Shape packed = {p.n, t.g_size * t.c_size, p.h, p.w};
    for_split(
        packed, most, random,
        [&](const Box &box) {
          Box dy_box{{box.lo[0], t.y.lo[1], 0, 0},
                     {box.size[0], t.y.size[1], 0, 0}};
          for (int i = 0; i < 2; ++i) {
            int64_t reach = (p.kernel[i] - 1) * p.dilations[i];
            int64_t first =
                floor_div(box.lo[2 + i] + p.pads[i] - reach + p.strides[i] - 1,
                          p.strides[i]);
            int64_t last =
                floor_div(box.hi(2 + i) - 1 + p.pads[i], p.strides[i]);
            // A box may hold more than needed.
            int64_t slack = int64_t(random() % 2);
            dy_box.lo[2 + i] = first - slack;
            dy_box.size[2 + i] = last - first + 1 + 2 * slack;
          }
          dy_box = dy_box.clipped(p.y());
          const Tile ty(dy, dy_box, order);
          const Tile tw(w, weight_box(p, t));
          const Tile tx = blank(packed, box, order);
          Conv2dBackwardData k{cx,      {ty, tw}, {tx},     p.dilations,
                               p.group, p.pads,   p.strides};
          k({ty, tw}, {tx});
          for_box(box, [&](const Shape &i) {
            found({i[0],
                   (t.g_lo + i[1] / t.c_size) * per + t.c_lo + i[1] % t.c_size,
                   i[2], i[3]}) += tx.get(i);
          });
        },
        {1});
  });
  expect_close(found, expected, 5e-5);
}

const std::vector<Problem> &problems() {
  static const std::vector<Problem> list = {
      {2, 3, 9, 8, 4, 1, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {2, 3, 17, 15, 6, 1, {7, 7}, {1, 1}, {3, 3, 3, 3}, {2, 2}},
      {3, 16, 8, 8, 32, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, {2, 2}},
      {2, 8, 11, 7, 8, 4, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {1, 6, 10, 10, 6, 6, {3, 3}, {1, 1}, {1, 1, 1, 1}, {2, 2}},
      {2, 4, 12, 13, 5, 1, {3, 2}, {2, 3}, {2, 0, 1, 3}, {1, 2}},
      {1, 3, 20, 20, 8, 1, {5, 5}, {1, 1}, {2, 2, 2, 2}, {4, 4}},
      {2, 4, 6, 6, 4, 2, {1, 1}, {1, 1}, {0, 0, 0, 0}, {3, 3}},
      {1, 2, 5, 5, 3, 1, {5, 5}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
      {1, 2, 4, 4, 2, 1, {3, 3}, {1, 1}, {4, 4, 4, 4}, {1, 1}},
      {2, 32, 14, 14, 32, 1, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {2, 48, 13, 13, 64, 2, {5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}},
  };
  return list;
}

class Conv : public testing::TestWithParam<int> {};

TEST_P(Conv, WholeChannelsLast) {
  std::mt19937 random(seed());
  const Problem &p = problems()[GetParam()];
  check_forward(p, Order::channels_last, 1, random);
  check_backward_data(p, Order::channels_last, 1, random);
  check_backward_weights(p, Order::channels_last, 1, random);
}

TEST_P(Conv, WholeRowMajor) {
  std::mt19937 random(seed());
  const Problem &p = problems()[GetParam()];
  check_forward(p, Order::row_major, 1, random);
  check_backward_data(p, Order::row_major, 1, random);
  check_backward_weights(p, Order::row_major, 1, random);
}

TEST_P(Conv, RandomTiles) {
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const Problem &p = problems()[GetParam()];
    Order order = round % 3 ? Order::channels_last : Order::row_major;
    check_forward(p, order, 3, random);
    check_backward_data(p, order, 3, random);
    check_backward_weights(p, order, 3, random);
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, Conv, testing::Range(0, 12));

} // namespace
