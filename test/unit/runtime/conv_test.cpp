//===- conv_test.cpp - convolutions against plain loops, whole and tiled --===//
#include "ffrt/conv.h"
#include "geometry.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

struct Problem {
  int64_t n, c;
  Shape image;
  int64_t oc, group;
  Ints kernel, dilations, pads, strides;
  int spatial() const { return int(image.size()); }
  Shape with_image(int64_t channels) const {
    return extended({n, channels}, image);
  }
  Shape x() const { return with_image(c); }
  Shape weights() const { return extended({oc, c / group}, kernel); }
  Shape y() const {
    Shape s = {n, oc};
    for (int i = 0; i < spatial(); ++i)
      s.push_back((image[i] + pads[i] + pads[i + spatial()] -
                   (kernel[i] - 1) * dilations[i] - 1) /
                      strides[i] +
                  1);
    return s;
  }
  static Shape extended(Shape first, const Shape &rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  }
};

/// Calls f(x index, w index, y index) for all products.
template <class F> void for_products(const Problem &p, F &&f) {
  const Shape y = p.y();
  const int64_t per = p.c / p.group, outs = p.oc / p.group;
  Shape taps = p.weights();
  taps[0] = 1;
  for_box({Shape(y.size(), 0), y}, [&](const Shape &o) {
    for_box({Shape(taps.size(), 0), taps}, [&](const Shape &k) {
      Shape i = {o[0], o[1] / outs * per + k[1]}, w = k;
      w[0] = o[1];
      for (int d = 0; d < p.spatial(); ++d) {
        i.push_back(o[2 + d] * p.strides[d] - p.pads[d] +
                    k[2 + d] * p.dilations[d]);
        if (i[2 + d] < 0 || i[2 + d] >= p.image[d])
          return;
      }
      f(i, w, o);
    });
  });
}

/// What a tile works on: a box of the output positions and channels, and a
/// range of input channels within each group.
struct Tiling {
  Box y;                // n, oc and space
  int64_t c_lo, c_size; // input channels within a group
  int64_t g_lo, g_size; // groups
};

void for_tiles(const Problem &p, int most, std::mt19937 &random,
               const std::function<void(const Tiling &)> &f,
               bool whole_channels = false) {
  const Shape y = p.y();
  const int64_t outs = p.oc / p.group;
  // Groups are cut, or the output channels of each group, not both.
  const bool by_group = p.group > 1 && random() % 2;
  const Shape groups =
      by_group ? cut(p.group, most, random) : Shape{0, p.group};
  const Shape channels = cut(p.c / p.group, whole_channels ? 1 : most, random);
  for (std::size_t g = 0; g + 1 < groups.size(); ++g)
    for (std::size_t c = 0; c + 1 < channels.size(); ++c) {
      Shape part = y;
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

/// Extents of an activation with the input channels of a tile, packed: local
/// groups times channels.
Shape packed_shape(const Problem &p, const Tiling &t) {
  return p.with_image(t.g_size * t.c_size);
}

/// The index into x of an index into packed channels.
Shape unpacked(const Problem &p, const Tiling &t, Shape i) {
  i[1] =
      (t.g_lo + i[1] / t.c_size) * (p.c / p.group) + t.c_lo + i[1] % t.c_size;
  return i;
}

Value pack(const Value &x, const Problem &p, const Tiling &t) {
  Value packed(packed_shape(p, t));
  for_box(packed.whole(),
          [&](const Shape &i) { packed(i) = x(unpacked(p, t, i)); });
  return packed;
}

/// The input box that the output positions of `t` read, over packed channels.
Box input_box(const Problem &p, const Tiling &t) {
  const Shape all = packed_shape(p, t);
  Box box{Shape(all.size(), 0), all};
  box.lo[0] = t.y.lo[0];
  box.size[0] = t.y.size[0];
  for (int i = 0; i < p.spatial(); ++i) {
    int64_t first = t.y.lo[2 + i] * p.strides[i] - p.pads[i];
    int64_t last = (t.y.hi(2 + i) - 1) * p.strides[i] - p.pads[i] +
                   (p.kernel[i] - 1) * p.dilations[i];
    box.lo[2 + i] = first;
    box.size[2 + i] = last - first + 1;
  }
  return box.clipped(all);
}

Box weight_box(const Problem &p, const Tiling &t) {
  const Shape all = p.weights();
  Box box{Shape(all.size(), 0), all};
  box.lo[0] = t.y.lo[1];
  box.size[0] = t.y.size[1];
  box.lo[1] = t.c_lo;
  box.size[1] = t.c_size;
  return box;
}

void check_forward(const Problem &p, Order order, int most,
                   std::mt19937 &random, const Reals &clamp = {},
                   DType type = DType::f32) {
  const Value x = random_value(p.x(), random, type);
  const Value w = random_value(p.weights(), random, type);
  const Value b = random_value({p.oc}, random);
  Value expected(p.y()), found(p.y());
  for_box(expected.whole(), [&](const Shape &o) { expected(o) = b({o[1]}); });
  for_products(p, [&](const Shape &i, const Shape &k, const Shape &o) {
    expected(o) += x(i) * w(k);
  });
  for (double &v : expected.data)
    v = clamped(v, clamp);
  Context cx;
  const auto check_tile = [&](const Tiling &t) {
    const Tile tx(pack(x, p, t), input_box(p, t), order, type);
    const Tile tw(w, weight_box(p, t), Order::row_major, type);
    // The bias enters one of the partial sums.
    const Tile tb(b, {{t.y.lo[1]}, {t.y.size[1]}});
    const Tensor bias = t.c_lo == 0 ? tb.tensor : absent({p.oc});
    const Tile ty = blank(p.y(), t.y, order);
    ConvForward k{cx,          {tx, tw, bias}, {ty},   clamp,
                  p.dilations, p.group,        p.pads, p.strides};
    k({tx, tw, bias}, {ty});
    add_tile(found, ty, t.y);
    if (type == DType::f32)
      return;
    const Tile rounded = blank(p.y(), t.y, order, type);
    ConvForward same{cx,          {tx, tw, bias}, {rounded}, clamp,
                     p.dilations, p.group,        p.pads,    p.strides};
    same({tx, tw, bias}, {rounded});
    expect_rounded(rounded, ty, t.y);
  };
  // Bounds of summands are not those of a sum.
  for_tiles(p, most, random, check_tile, /*whole_channels=*/!clamp.empty());
  expect_close(found, expected, 5e-5);
}

void check_backward_weights(const Problem &p, Order order, int most,
                            std::mt19937 &random, DType type = DType::f32) {
  const Value x = random_value(p.x(), random, type);
  const Value dy = random_value(p.y(), random, type);
  Value expected(p.weights()), found(p.weights());
  for_products(p, [&](const Shape &i, const Shape &k, const Shape &o) {
    expected(k) += x(i) * dy(o);
  });
  Context cx;
  for_tiles(p, most, random, [&](const Tiling &t) {
    const Tile tx(pack(x, p, t), input_box(p, t), order, type);
    const Tile ty(dy, t.y, order, type);
    const Tile tw = blank(p.weights(), weight_box(p, t));
    ConvBackwardWeights k{cx,      {tx, ty}, {tw},     p.dilations,
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
                         std::mt19937 &random, DType type = DType::f32) {
  const Value w = random_value(p.weights(), random, type);
  const Value dy = random_value(p.y(), random, type);
  Value expected(p.x()), found(p.x());
  for_products(p, [&](const Shape &i, const Shape &k, const Shape &o) {
    expected(i) += w(k) * dy(o);
  });
  Context cx;
  // Channels are cut as forward; positions of dx anew.
  for_tiles(p, most, random, [&](const Tiling &t) {
    for (int d = 0; d < p.spatial() + 2; ++d)
      if (d != 1 && t.y.lo[d])
        return;
    const Shape packed = packed_shape(p, t);
    for_split(packed, most, random,
              [&](const Box &box) {
                Box dy_box = box;
                dy_box.lo[1] = t.y.lo[1];
                dy_box.size[1] = t.y.size[1];
                for (int i = 0; i < p.spatial(); ++i) {
                  int64_t reach = (p.kernel[i] - 1) * p.dilations[i];
                  int64_t first = floor_div(box.lo[2 + i] + p.pads[i] - reach +
                                                p.strides[i] - 1,
                                            p.strides[i]);
                  int64_t last =
                      floor_div(box.hi(2 + i) - 1 + p.pads[i], p.strides[i]);
                  // A box may hold more than needed.
                  int64_t slack = int64_t(random() % 2);
                  dy_box.lo[2 + i] = first - slack;
                  dy_box.size[2 + i] = last - first + 1 + 2 * slack;
                }
                dy_box = dy_box.clipped(p.y());
                const Tile ty(dy, dy_box, order, type);
                const Tile tw(w, weight_box(p, t), Order::row_major, type);
                const Tile tx = blank(packed, box, order);
                ConvBackwardData k{cx,      {ty, tw}, {tx},     p.dilations,
                                   p.group, p.pads,   p.strides};
                k({ty, tw}, {tx});
                if (type != DType::f32) {
                  const Tile rounded = blank(packed, box, order, type);
                  ConvBackwardData same{cx,          {ty, tw}, {rounded},
                                        p.dilations, p.group,  p.pads,
                                        p.strides};
                  same({ty, tw}, {rounded});
                  expect_rounded(rounded, tx, box);
                }
                for_box(box, [&](const Shape &i) {
                  found(unpacked(p, t, i)) += tx.get(i);
                });
              },
              {1});
  });
  expect_close(found, expected, 5e-5);
}

const std::vector<Problem> &problems() {
  static const std::vector<Problem> list = {
      {2, 3, {9, 8}, 4, 1, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {2, 3, {17, 15}, 6, 1, {7, 7}, {1, 1}, {3, 3, 3, 3}, {2, 2}},
      {3, 16, {8, 8}, 32, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, {2, 2}},
      // An odd number of channels that are summed.
      {4, 6, {9, 10}, 3, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
      {2, 8, {11, 7}, 8, 4, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {1, 6, {10, 10}, 6, 6, {3, 3}, {1, 1}, {1, 1, 1, 1}, {2, 2}},
      {2, 4, {12, 13}, 5, 1, {3, 2}, {2, 3}, {2, 0, 1, 3}, {1, 2}},
      {1, 3, {20, 20}, 8, 1, {5, 5}, {1, 1}, {2, 2, 2, 2}, {4, 4}},
      {2, 4, {6, 6}, 4, 2, {1, 1}, {1, 1}, {0, 0, 0, 0}, {3, 3}},
      {1, 2, {5, 5}, 3, 1, {5, 5}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
      {1, 2, {4, 4}, 2, 1, {3, 3}, {1, 1}, {4, 4, 4, 4}, {1, 1}},
      {1, 32, {9, 8}, 32, 1, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {1, 48, {7, 9}, 64, 2, {5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}},
      // Depthwise, with channels in blocks of all sizes, and tiles of a few.
      {2, 37, {9, 8}, 37, 37, {5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}},
      {1, 90, {5, 19}, 90, 90, {4, 7}, {1, 1}, {0, 3, 3, 3}, {3, 2}},
      {1, 96, {12, 11}, 96, 96, {5, 3}, {1, 2}, {2, 0, 2, 3}, {2, 1}},
      {1, 20, {4, 4}, 20, 20, {3, 3}, {1, 1}, {3, 3, 3, 3}, {1, 1}},
      // So many channels that the data gradient is made in blocks.
      {1, 8, {5, 6}, 512, 1, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      // One and three spatial dimensions.
      {2, 4, {13}, 6, 2, {3}, {2}, {1, 3}, {2}},
      {3, 16, {21}, 16, 16, {5}, {1}, {2, 2}, {1}},
      {2,
       3,
       {5, 6, 7},
       4,
       1,
       {3, 3, 3},
       {1, 1, 1},
       {1, 1, 1, 1, 1, 1},
       {1, 1, 1}},
      {1,
       8,
       {7, 5, 6},
       4,
       2,
       {2, 1, 3},
       {1, 1, 2},
       {0, 1, 2, 1, 0, 1},
       {2, 1, 1}},
      {1,
       18,
       {4, 5, 5},
       18,
       18,
       {3, 3, 3},
       {1, 1, 1},
       {1, 1, 1, 1, 1, 1},
       {1, 2, 1}},
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

TEST_P(Conv, LowPrecisionOperands) {
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const Problem &p = problems()[GetParam()];
    const Order order = round % 2 ? Order::row_major : Order::channels_last;
    const DType operand_type = round < 2 ? DType::bf16 : DType::f16;
    const int most = round == 0 ? 1 : 3;
    check_forward(p, order, most, random, {}, operand_type);
    for (const Reals &clamp : {Reals{0.0}, Reals{-0.3, 0.7}})
      check_forward(p, order, most, random, clamp, operand_type);
    check_backward_data(p, order, most, random, operand_type);
    check_backward_weights(p, order, most, random, operand_type);
  }
}

TEST_P(Conv, Clamped) {
  std::mt19937 random(seed());
  const Problem &p = problems()[GetParam()];
  for (const Reals &clamp : {Reals{0.0}, Reals{-0.5, 0.25}, Reals{0.5}})
    for (Order order : {Order::channels_last, Order::row_major}) {
      check_forward(p, order, 1, random, clamp);
      check_forward(p, order, 3, random, clamp);
    }
}

INSTANTIATE_TEST_SUITE_P(Problems, Conv, testing::Range(0, 23));

} // namespace
