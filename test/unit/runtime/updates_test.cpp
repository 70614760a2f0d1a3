//===- updates_test.cpp - rates, slots and left-out steps of updates -----===//
#include "optimizer_case.h"

#include "ffrt/error.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

template <class Kernel> struct Of { using Update = Kernel; };

/// Calls check(Of<Kernel>, number of slots, numbers...) with every update that
/// has slots.
template <class Check> void for_updates(Check check) {
  check(Of<SgdUpdate>(), 1, 0.75, 1);
  check(Of<AdamUpdate>(), 2, 0.75, 0.875, 0.01);
  check(Of<AdamwUpdate>(), 2, 0.75, 0.875, 0.01);
  check(Of<HfAdamwUpdate>(), 2, 0.75, 0.875, 0.01);
  check(Of<LionUpdate>(), 1, 0.75, 0.875);
  check(Of<AdagradUpdate>(), 1, 0.01);
  check(Of<RmspropUpdate>(), 1, 0.75, 0.01, 0.0);
  check(Of<RmspropUpdate>(), 2, 0.75, 0.01, 0.5);
}

/// A scale that is not finite: no bit changes.
template <class Kernel, class... Numbers>
void check_skipped(size_t slots, Numbers... numbers) {
  std::mt19937 random(seed());
  for (double scale : {HUGE_VAL, std::nan("")}) {
    Training run(37, slots, scale, random);
    run.skipped = 1;
    for (Value &slot : run.slots)
      slot = random_value({37}, random);
    const Training after = found<Kernel>(run, 1, numbers...);
    EXPECT_EQ(after.w.data, run.w.data);
    for (size_t s = 0; s < slots; ++s)
      EXPECT_EQ(after.slots[s].data, run.slots[s].data);
  }
}

/// As if the program had the parameter's rate and decay.
template <class Kernel, class... Numbers>
void check_own(size_t slots, Numbers... numbers) {
  std::mt19937 random(seed());
  Training run(37, slots, 0.375, random);
  run.share = 0.25;
  const Training all = found<Kernel>(run, 1, numbers...);
  run.is_own = true;
  const Training own = found<Kernel>(run, 1, numbers...);
  EXPECT_EQ(own.w.data, all.w.data);
  for (size_t s = 0; s < slots; ++s)
    EXPECT_EQ(own.slots[s].data, all.slots[s].data);
}

TEST(Updates, OwnRates) {
  check_own<SgdUpdate>(0, 0.0, 0);
  for_updates([](auto of, size_t slots, auto... numbers) {
    check_own<typename decltype(of)::Update>(slots, numbers...);
  });
}

/// Slots of bf16 are those of f32, rounded, and the parameter is the same.
template <class Kernel, class... Numbers>
void check_narrow(size_t slots, Numbers... numbers) {
  std::mt19937 random(seed());
  Context cx;
  for (int64_t n : {1, 37, 70001}) {
    const Value before = random_value({n}, random),
                gradient = random_value({n}, random);
    const Box all = before.whole();
    const Tile g(gradient, all);
    std::vector<Value> kept;
    for (size_t s = 0; s < slots; ++s) {
      kept.push_back(random_value({n}, random));
      for (double &element : kept[s].data)
        element = double(rounded(float(element * element), DType::bf16));
    }
    const auto step = [&](DType type) {
      // Copies would share memory.
      std::vector<Tile> tiles;
      tiles.emplace_back(before, all);
      for (const Value &slot : kept)
        tiles.emplace_back(slot, all, Order::row_major, type);
      const Tile &w = tiles[0];
      const auto call = [&](Tensors in, Tensors out) {
        perform(Kernel(cx, in, out, numbers...), in, out);
      };
      if (slots == 1)
        call({w, g, Tensor(), tiles[1]}, {w, tiles[1]});
      else
        call({w, g, Tensor(), tiles[1], tiles[2]}, {w, tiles[1], tiles[2]});
      return tiles;
    };
    const std::vector<Tile> wide = step(DType::f32), narrow = step(DType::bf16);
    EXPECT_EQ(narrow[0].bytes, wide[0].bytes);
    for (size_t s = 1; s <= slots; ++s)
      expect_rounded(narrow[s], wide[s], all);
  }
}

TEST(Updates, NarrowSlots) {
  for_updates([](auto of, size_t slots, auto... numbers) {
    check_narrow<typename decltype(of)::Update>(slots, numbers...);
  });
}

TEST(Updates, SlotsOfOneType) {
  const Value zero({3});
  const auto tile = [&](DType type) {
    return Tile(zero, zero.whole(), Order::row_major, type);
  };
  const Tile w = tile(DType::f32), narrow = tile(DType::bf16),
             half = tile(DType::f16);
  const auto error_of = [&](const Tile &m, const Tile &v) {
    Context cx;
    try {
      AdamUpdate(cx, {w, w, Tensor(), m, v}, {w, m, v}, 0.9, 0.999, 1e-8);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of(half, half),
            "adam update: slot: expected type f32 or bf16, found f16");
  EXPECT_EQ(error_of(narrow, w),
            "adam update: slot: expected type bf16, found f32");
}

TEST(Updates, RatesOfAllOrOfNone) {
  const Value zero({3});
  const Tile w(zero, zero.whole()), g(zero, zero.whole());
  Context cx;
  cx.own_rates[g.tensor.data] = {1, 0};
  EXPECT_THROW(perform(SgdUpdate(cx, {w, g, Tensor()}, {w}, 0.0, 0),
                       {w, g, Tensor()}, {w}),
               Error);
}

TEST(Updates, Skipped) {
  check_skipped<SgdUpdate>(0, 0.0, 0);
  for_updates([](auto of, size_t slots, auto... numbers) {
    check_skipped<typename decltype(of)::Update>(slots, numbers...);
  });
}

} // namespace
