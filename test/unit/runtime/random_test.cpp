//===- random_test.cpp - counter-based numbers, hash, dropout, Init -------===//
#include "common/data/source.h"
#include "common/kernels/random.h"
#include "common/program/initial.h"
#include "ffrt/dropout.h"
#include "ffrt/hash.h"
#include "ffrt/noise.h"
#include "geometry.h"
#include "refusals.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

// Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox(0, 0, 0),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~uint64_t(0), ~uint64_t(0), ~uint64_t(0)),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, BlocksEqualSingleWords) {
  for (uint64_t first :
       {uint64_t(0), uint64_t(3), uint64_t(61), (uint64_t(1) << 34) - 10})
    for (uint64_t stride : {1, 5}) {
      uint32_t words[200];
      philox_words(77, 5, first, stride, words, 200);
      for (uint64_t i = 0; i < 200; ++i)
        ASSERT_EQ(words[i], philox_word(77, first + i * stride, 5));
    }
}

TEST(Hash, Fnv1a) {
  EXPECT_EQ(hash_name(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_name("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_name("foobar"), 0x85944171f73967e8u);
}

TEST(Dropout, MaskDependsOnGlobalElementsOnly) {
  Context cx;
  cx.seed = 42;
  const int64_t key = int64_t(hash_name("drop1"));
  std::vector<double> earlier;
  for (int64_t step : {0, 1}) {
    cx.micro_batch = step;
    for (unsigned round = 0; round < 6; ++round) {
      std::mt19937 random(seed() * 1000 + round);
      const Value x = random_value({5, 6, 7, 8}, random);
      Value expected(x.shape), found(x.shape);
      double kept = 0.0;
      for (std::size_t e = 0; e < x.data.size(); ++e) {
        bool keep = unit_interval(philox_word(cx.seed ^ uint64_t(key), e,
                                              uint64_t(step))) >= 0.3f;
        kept += keep;
        expected.data[e] = keep ? x.data[e] / (1.0 - 0.3f) : 0.0;
      }
      EXPECT_NEAR(kept / double(x.data.size()), 0.7, 0.05);
      Order order = round % 2 ? Order::channels_last : Order::row_major;
      for_split(x.shape, round < 2 ? 1 : 3, random, [&](const Box &box) {
        const Tile tx(x, box, order), ty = blank(x.shape, box, order);
        Dropout k{cx, {tx}, {ty}, key, 0.3};
        int64_t before = allocations();
        k({tx}, {ty});
        EXPECT_EQ(allocations(), before);
        add_tile(found, ty, box);
      });
      expect_close(found, expected, 1e-6);
      if (round > 0)
        continue;
      EXPECT_NE(earlier, found.data);
      earlier = found.data;
    }
  }
}

TEST(Dropout, NarrowTensors) {
  Context cx;
  cx.seed = 42;
  for (unsigned round = 0; round < 6; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const Value x = random_value({5, 6, 7, 8}, random);
    const Order order = round % 2 ? Order::channels_last : Order::row_major;
    for_split(x.shape, round < 2 ? 1 : 3, random, [&](const Box &box) {
      check_narrow(x, box, x.shape, box, order,
                   [&](const Tile &from, const Tile &to) {
                     Dropout k{cx, {from}, {to}, 7, 0.3};
                     k({from}, {to});
                   });
    });
  }
}

/// Of f32 or not, as operand and result are.
TEST(Dropout, Adds) {
  Context cx;
  cx.seed = 42;
  for (unsigned round = 0; round < 24; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const Value x = random_value({5, 6, 7, 8}, random),
                a = random_value(x.shape, random);
    const Order order = round % 2 ? Order::channels_last : Order::row_major;
    const DType narrow = round % 3 ? DType::bf16 : DType::f16;
    const auto type = [&](unsigned bit) {
      return round / 6 & bit ? narrow : DType::f32;
    };
    for_split(x.shape, round < 2 ? 1 : 3, random, [&](const Box &box) {
      const Tile tx(x, box, order, type(1)), ta(a, box, order, type(2)),
          dropped = blank(x.shape, box, order), y = blank(x.shape, box, order);
      Dropout{cx, {tx}, {dropped}, 7, 0.3}({tx}, {dropped});
      Dropout{cx, {tx, ta}, {y}, 7, 0.3}({tx, ta}, {y});
      const Tile rounded = blank(x.shape, box, order, narrow);
      Dropout{cx, {tx, ta}, {rounded}, 7, 0.3}({tx, ta}, {rounded});
      // Product and sum may be one operation, which rounds once.
      for_box(box, [&](const Shape &i) {
        EXPECT_NEAR(y.get(i), dropped.get(i) + ta.get(i), 1e-6);
        EXPECT_NEAR(rounded.get(i), y.get(i), 1e-6 + std::abs(y.get(i)) / 256);
      });
    });
  }
}

TEST(Noise, DependsOnGlobalElementsOnly) {
  Context cx;
  cx.seed = 42;
  for (int64_t kind : {0, 1}) {
    Value whole({20, 6, 7, 8});
    for (unsigned round = 0; round < 4; ++round) {
      std::mt19937 random(seed() * 1000 + round);
      const Value x(whole.shape);
      Value found(x.shape);
      const Order order = round % 2 ? Order::channels_last : Order::row_major;
      for_split(x.shape, round == 0 ? 1 : 3, random, [&](const Box &box) {
        const Tile tx(x, box, order), ty = blank(x.shape, box, order);
        Noise k{cx, {tx}, {ty}, 7, kind};
        int64_t before = allocations();
        k({tx}, {ty});
        EXPECT_EQ(allocations(), before);
        add_tile(found, ty, box);
      });
      if (round > 0) {
        expect_close(found, whole, 1e-6);
        continue;
      }
      whole = found;
      double sum = 0, squares = 0;
      for (double drawn : found.data) {
        sum += drawn;
        squares += drawn * drawn;
      }
      const auto n = double(found.data.size());
      EXPECT_NEAR(sum / n, kind == 0 ? 0.5 : 0.0, 0.05);
      EXPECT_NEAR(squares / n, kind == 0 ? 1.0 / 3.0 : 1.0, 0.08);
    }
    // Another step, other numbers.
    cx.micro_batch = 1;
    const Value x(whole.shape);
    Value other(x.shape);
    const Tile tx(x, x.whole()), ty = blank(x.shape, x.whole());
    Noise{cx, {tx}, {ty}, 7, kind}({tx}, {ty});
    add_tile(other, ty, x.whole());
    EXPECT_NE(other.data, whole.data);
    cx.micro_batch = 0;
  }
}

TEST(Noise, RefusesKinds) {
  const Tensor x = tensor({3, 4});
  EXPECT_EQ(error_of([&](Context &cx) { Noise(cx, {x}, {x}, 7, 2); }),
            "noise: kind: expected 0 or 1, found 2");
}

TEST(Initial, RandomValuesDependOnGlobalElementsOnly) {
  const Shape shape = {50, 40, 3, 3};
  for (Init::Kind kind : {Init::uniform, Init::normal}) {
    Value whole(shape);
    for (unsigned round = 0; round < 4; ++round) {
      std::mt19937 random(seed() * 1000 + round);
      Value value(shape);
      for_split(shape, round == 0 ? 1 : 3, random, [&](const Box &box) {
        const Tile t = blank(shape, box, Order::row_major);
        initialise({{"conv1.weight", StateKind::parameter, {kind, 0.5, 0}, t}},
                   3, {"none", ""});
        add_tile(value, t, box);
      });
      if (round == 0)
        whole = value;
      else
        EXPECT_EQ(value.data, whole.data);
    }
    double mean = 0.0, square = 0.0;
    for (double v : whole.data) {
      mean += v / double(whole.data.size());
      square += v * v / double(whole.data.size());
      ASSERT_TRUE(kind == Init::normal || std::abs(v) <= 0.5);
    }
    EXPECT_NEAR(mean, 0.0, 0.02);
    EXPECT_NEAR(std::sqrt(square),
                kind == Init::uniform ? 0.5 / std::sqrt(3.0) : 0.5, 0.02);
  }
}

TEST(Synthetic, SameForEveryPartition) {
  ProgramInfo info{};
  info.inputs = {{"x", DType::f32, 3, {8, 5, 6}, false, 0},
                 {"target", DType::i32, 1, {8}, true, 10}};
  auto source = make_synthetic(info, 9);
  const Shape shape = {8, 5, 6};
  std::mt19937 random(seed());
  Value whole(shape), pieces(shape), labels({8});
  const Tile all = blank(shape, whole.whole());
  source->fill(4, 0, all);
  add_tile(whole, all, whole.whole());
  for_split(shape, 3, random, [&](const Box &box) {
    const Tile t = blank(shape, box, Order::channels_last);
    source->fill(4, 0, t);
    add_tile(pieces, t, box);
  });
  EXPECT_EQ(whole.data, pieces.data);
  const Tile target = blank({8}, labels.whole(), Order::row_major, DType::i32);
  source->fill(4, 1, target);
  add_tile(labels, target, labels.whole());
  for (double label : labels.data)
    EXPECT_TRUE(label >= 0 && label < 10);
  const Tile later = blank(shape, whole.whole());
  source->fill(5, 0, later);
  EXPECT_NE(all.bytes, later.bytes);
}

/// Targets of a loss of yes and no are such.
TEST(Synthetic, RealsBelowABound) {
  ProgramInfo info{};
  info.inputs = {{"target", DType::f32, 2, {64, 2}, true, 2}};
  auto source = make_synthetic(info, 9);
  const Value all({64, 2});
  const Tile target = blank({64, 2}, all.whole());
  source->fill(0, 0, target);
  Value values({64, 2});
  add_tile(values, target, all.whole());
  double ones = 0;
  for (double value : values.data) {
    EXPECT_TRUE(value == 0 || value == 1);
    ones += value;
  }
  EXPECT_NEAR(ones, 64, 30);
}

} // namespace
