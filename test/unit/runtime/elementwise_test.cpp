//===- elementwise_test.cpp - element-wise, binary and reducing kernels ---===//
#include "ffrt/bfloat16.h"
#include "ffrt/elementwise.h"
#include "ffrt/float16.h"
#include "ffrt/optimizer.h"
#include "ffrt/reduce.h"
#include "geometry.h"

#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <tuple>

using namespace ffrt;
using namespace ffrt_test;

namespace {

template <class K, class F, class... A>
void check_map(int operands, F f, A... attributes) {
  std::mt19937 random(seed());
  Context cx;
  Value a = random_value({3, 5, 7}, random),
        b = random_value({3, 5, 7}, random);
  for (double &v : a.data)
    v *= 6.0;
  Value expected(a.shape), found(a.shape);
  for (std::size_t i = 0; i < a.data.size(); ++i)
    expected.data[i] = f(a.data[i], b.data[i]);
  const Tile ta(a, a.whole()), tb(b, b.whole());
  const Tile y = blank(a.shape, a.whole());
  auto run = [&](Tensors in) {
    K k{cx, in, {y}, attributes...};
    int64_t before = allocations();
    k(in, {y});
    EXPECT_EQ(allocations(), before);
  };
  if (operands == 1)
    run({ta});
  else
    run({ta, tb});
  add_tile(found, y, a.whole());
  expect_close(found, expected, 1e-6);
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

TEST(Elementwise, Functors) {
  check_map<ReluForward>(1, [](double x, double) { return x > 0 ? x : 0.0; });
  check_map<ReluBackward>(2,
                          [](double g, double y) { return y > 0 ? g : 0.0; });
  check_map<LeakyReluForward>(
      1, [](double x, double) { return x < 0 ? 0.125 * x : x; }, 0.125);
  check_map<LeakyReluBackward>(
      2, [](double g, double x) { return x < 0 ? 0.125 * g : g; }, 0.125);
  check_map<SigmoidForward>(1, [](double x, double) { return sigmoid(x); });
  check_map<SigmoidBackward>(
      2, [](double g, double y) { return g * y * (1 - y); });
  check_map<TanhForward>(1, [](double x, double) { return std::tanh(x); });
  check_map<TanhBackward>(2,
                          [](double g, double y) { return g * (1 - y * y); });
  check_map<Scale>(
      1, [](double x, double) { return 0.3 * x; }, 0.3);
  check_map<ClipForward>(
      1, [](double x, double) { return std::fmin(2.0, std::fmax(-1.0, x)); },
      -1.0, 2.0);
  check_map<HardSigmoidBackward>(
      2, [](double g, double y) { return y > 0 && y < 1 ? 0.25 * g : 0.0; },
      0.25, 0.5);
}

/// `index` of a broadcast result in an operand of shape `s`; `one` along
/// broadcast dimensions.
Shape narrow(const Shape &s, const Shape &index, int64_t one) {
  Shape i(s.size());
  for (std::size_t d = 0; d < i.size(); ++d)
    i[d] = s[d] == 1 ? one : index[index.size() - i.size() + d];
  return i;
}

/// `f` takes as many numbers as there are operands.
template <class K, class... S, class F>
void check_broadcast(F f, Order order, int most, std::mt19937 &random,
                     const S &...shapes) {
  const std::vector<Value> x = {random_value(shapes, random)...};
  std::size_t rank = 0;
  for (const Value &v : x)
    rank = std::max(rank, v.shape.size());
  Shape sy(rank, 1);
  for (const Value &v : x)
    for (std::size_t d = 0; d < v.shape.size(); ++d) {
      int64_t &extent = sy[rank - v.shape.size() + d];
      extent = std::max(extent, v.shape[d]);
    }
  Value expected(sy), found(sy);
  for_box(expected.whole(), [&](const Shape &o) {
    std::array<double, sizeof...(S)> a;
    for (std::size_t k = 0; k < a.size(); ++k)
      a[k] = x[k](narrow(x[k].shape, o, 0));
    expected(o) = std::apply(f, a);
  });
  Context cx;
  for_split(sy, most, random, [&](const Box &box) {
    std::vector<Tile> tiles;
    for (const Value &v : x)
      // Operands of another shape may have another order.
      tiles.emplace_back(
          v, Box{narrow(v.shape, box.lo, 0), narrow(v.shape, box.size, 1)},
          v.shape == sy || random() % 2 ? order : Order::row_major);
    const Tile ty = blank(sy, box, order);
    auto run = [&](Tensors in) {
      K k{cx, in, {ty}};
      int64_t before = allocations();
      k(in, {ty});
      EXPECT_EQ(allocations(), before);
    };
    if constexpr (sizeof...(S) == 2)
      run({tiles[0], tiles[1]});
    else
      run({tiles[0], tiles[1], tiles[2]});
    add_tile(found, ty, box);
  });
  expect_close(found, expected, 1e-6);
}

TEST(Binary, Broadcasting) {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{2, 3, 4, 5}, {2, 3, 4, 5}},
      {{2, 3, 4, 5}, {3, 1, 1}},
      {{2, 3, 4, 5}, {1, 3, 1, 1}},
      {{2, 3, 4, 5}, {5}},
      {{2, 3, 4, 5}, {}},
      {{4, 1}, {2, 1, 7}},
      {{6, 9}, {9}},
      {{}, {}},
      {{2, 1, 4, 1}, {3, 1, 5}}};
  auto add = [](double a, double b) { return a + b; };
  auto sub = [](double a, double b) { return a - b; };
  auto less = [](double a, double b) { return a < b ? 1.0 : 0.0; };
  auto select = [](double c, double a, double b) { return c != 0 ? a : b; };
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Order order = round % 2 ? Order::channels_last : Order::row_major;
    for (auto &[a, b] : shapes)
      for (int most : {1, 3}) {
        check_broadcast<Add>(add, order, most, random, a, b);
        check_broadcast<Sub>(sub, order, most, random, b, a);
        check_broadcast<Less>(less, order, most, random, a, b);
        check_broadcast<Select>(select, order, most, random, b, a, Shape());
        check_broadcast<Select>(select, order, most, random, a, b, a);
      }
  }
}

// Several threads, each with parts of planes of short rows.
TEST(Binary, LargeImages) {
  std::mt19937 random(seed());
  auto mul = [](double a, double b) { return a * b; };
  for (Order order : {Order::row_major, Order::channels_last})
    for (const Shape &other :
         std::vector<Shape>{{5, 1, 1}, {3, 1, 40, 40}, {3, 5, 1, 1}, {40}})
      check_broadcast<Mul>(mul, order, 1, random, Shape{3, 5, 40, 40}, other);
}

TEST(Cast, BetweenAllTypes) {
  Context cx;
  const std::vector<double> numbers = {0, 1, 2.75, 100.5, 0.25};
  auto tensor = [&](void *data, DType type) {
    Tensor t;
    t.data = data;
    t.type = type;
    t.rank = 1;
    t.shape = t.global = {int64_t(numbers.size())};
    return t;
  };
  auto put = [](void *data, DType type, int i, double x) {
    switch (type) {
    case DType::f32:
      return void(static_cast<float *>(data)[i] = float(x));
    case DType::f64:
      return void(static_cast<double *>(data)[i] = x);
    case DType::i32:
      return void(static_cast<int32_t *>(data)[i] = int32_t(x));
    case DType::i64:
      return void(static_cast<int64_t *>(data)[i] = int64_t(x));
    case DType::u8:
      return void(static_cast<uint8_t *>(data)[i] = uint8_t(x));
    case DType::boolean:
      return void(static_cast<uint8_t *>(data)[i] = x != 0);
    case DType::bf16:
      return void(static_cast<BFloat16 *>(data)[i] = BFloat16(float(x)));
    case DType::f16:
      return void(static_cast<Float16 *>(data)[i] = Float16(float(x)));
    }
  };
  const DType types[] = {DType::f32, DType::f64,     DType::i32,  DType::i64,
                         DType::u8,  DType::boolean, DType::bf16, DType::f16};
  for (DType from : types)
    for (DType to : types) {
      char x[64], y[64] = {}, expected[64] = {};
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        put(x, from, int(i), numbers[i]);
        bool whole = from != DType::f32 && from != DType::f64 &&
                     from != DType::bf16 && from != DType::f16;
        double seen = from == DType::boolean ? numbers[i] != 0
                      : whole                ? std::trunc(numbers[i])
                                             : numbers[i];
        put(expected, to, int(i), seen);
      }
      Cast k{cx, {tensor(x, from)}, {tensor(y, to)}, int64_t(to)};
      k({tensor(x, from)}, {tensor(y, to)});
      EXPECT_EQ(std::string(y, sizeof(y)),
                std::string(expected, sizeof(expected)))
          << int(from) << " to " << int(to);
    }
}

TEST(Cast, RoundsToBFloat16) {
  // To the nearest of 8 bits, ties to even.
  const std::vector<std::pair<float, float>> numbers = {
      {1.0f, 1.0f},
      {1.0f + 0x1p-8f, 1.0f},
      {1.0f + 0x1.8p-8f, 1.0f + 0x1p-7f},
      {1.0f + 0x1.8p-7f, 1.0f + 0x1p-6f},
      {-3.0f - 0x1.02p-7f, -3.0f - 0x1p-6f},
      {0x1.fffp127f, HUGE_VALF},
      {HUGE_VALF, HUGE_VALF},
      {0x1p-133f, 0x1p-133f}};
  for (auto [from, to] : numbers)
    EXPECT_EQ(float(BFloat16(from)), to) << from;
  EXPECT_TRUE(std::isnan(float(BFloat16(std::nanf("")))));
}

TEST(Cast, RoundsToFloat16) {
  // To the nearest of 11 bits, or of multiples of 2^-24, ties to even.
  const std::vector<std::pair<float, float>> numbers = {
      {1.0f, 1.0f},
      {1.0f + 0x1p-11f, 1.0f},
      {1.0f + 0x1.8p-11f, 1.0f + 0x1p-10f},
      {-1.0f - 0x1.8p-10f, -1.0f - 0x1p-9f},
      {65504.0f, 65504.0f},
      {0x1.ffdffep15f, 65504.0f},
      {65520.0f, HUGE_VALF},
      {-HUGE_VALF, -HUGE_VALF},
      {0x1.ff8p-15f, 0x1.ff8p-15f},
      {-0x1.803p-15f, -0x1.8p-15f},
      {0x1p-14f - 0x1p-26f, 0x1p-14f},
      {0x1.8p-24f, 0x1p-23f},
      {0x1p-25f, 0.0f},
      {0x1.01p-25f, 0x1p-24f}};
  for (auto [from, to] : numbers)
    EXPECT_EQ(float(Float16(from)), to) << from;
  EXPECT_TRUE(std::isnan(float(Float16(std::nanf("")))));
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const uint16_t word = uint16_t(bits);
    Float16 value;
    std::memcpy(&value, &word, sizeof value);
    if (const float wide = value; !std::isnan(wide))
      EXPECT_EQ(std::memcmp(&word, &(value = Float16(wide)), sizeof word), 0)
          << bits;
  }
}

TEST(Expand, WholeAndTiles) {
  for (unsigned round = 0; round < 12; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Order ox = round % 2 ? Order::channels_last : Order::row_major;
    Order oy = round / 2 % 2 ? Order::channels_last : Order::row_major;
    const DType types[] = {DType::f32, DType::bf16, DType::f16};
    const DType type = types[round / 4];
    const Shape sy = {2, 3, 4, 5};
    for (const Shape &sx : std::vector<Shape>{
             {2, 3, 4, 5}, {1, 3, 1, 1}, {3, 1, 1}, {5}, {1}, {}}) {
      const Value x = random_value(sx, random, type);
      Value expected(sy), found(sy);
      for_box(expected.whole(),
              [&](const Shape &i) { expected(i) = x(narrow(sx, i, 0)); });
      Context cx;
      for_split(sy, 3, random, [&](const Box &box) {
        const Tile tx(x, {narrow(sx, box.lo, 0), narrow(sx, box.size, 1)}, ox,
                      type);
        const Tile ty = blank(sy, box, oy, type);
        Expand k{cx, {tx}, {ty}};
        k({tx}, {ty});
        add_tile(found, ty, box);
      });
      expect_close(found, expected, 0);
    }
  }
}

void check_sum(const Shape &shape, const Ints &axes, bool keep, Order order,
               int most, int threads, std::mt19937 &random) {
  const Value x = random_value(shape, random);
  auto out_index = [&](const Shape &i, int64_t summed) {
    Shape o;
    for (std::size_t d = 0; d < i.size(); ++d) {
      bool sum = axes.empty() ||
                 std::find(axes.begin(), axes.end(), int64_t(d)) != axes.end();
      if (!sum)
        o.push_back(i[d]);
      else if (keep)
        o.push_back(summed);
    }
    return o;
  };
  Value expected(out_index(shape, 1)), found(out_index(shape, 1));
  for_box(x.whole(),
          [&](const Shape &i) { expected(out_index(i, 0)) += x(i); });
  Context cx;
  cx.threads = threads;
  for_split(shape, most, random, [&](const Box &box) {
    Box to{out_index(box.lo, 0), out_index(box.size, 1)};
    const Tile tx(x, box, order);
    const Tile ty = blank(expected.shape, to);
    ReduceSum k{cx, {tx}, {ty}, axes, int64_t(keep)};
    int64_t before = allocations();
    k({tx}, {ty});
    EXPECT_EQ(allocations(), before);
    add_tile(found, ty, to);
  });
  expect_close(found, expected, 1e-6);
}

TEST(ReduceSum, AxesOrdersAndTiles) {
  for (unsigned round = 0; round < 6; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    Order order = round % 2 ? Order::channels_last : Order::row_major;
    for (const Ints &axes :
         std::vector<Ints>{{}, {0}, {1}, {3}, {0, 2, 3}, {1, 2}, {0, 1, 2, 3}})
      check_sum({3, 17, 4, 5}, axes, round % 3 == 0, order, round < 2 ? 1 : 3,
                1, random);
    check_sum({400, 330}, {0}, false, Order::row_major, 1, 2, random);
    check_sum({400, 330}, {1}, true, Order::row_major, 1, 2, random);
    check_sum({400, 330}, {}, false, Order::row_major, 1, 2, random);
  }
}

} // namespace
