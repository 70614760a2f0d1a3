//===- optimizer_test.cpp - updates by their formulas, in doubles --------===//
#include "optimizer_case.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// Values and slots by the formula, and the same bits on any threads, whether
/// values are rounded besides or not; with and without a scale and a bound,
/// below and above what a thread gets.
template <class Kernel, class... Numbers>
void check(size_t slots, Formula formula, Numbers... numbers) {
  std::mt19937 random(seed());
  for (double scale : {1.0, 0.375})
    for (int64_t n : {1, 37, 70001}) {
      SCOPED_TRACE("n " + std::to_string(n));
      Training run(n, slots, scale, random);
      run.clip = scale == 1.0 ? HUGE_VAL : 0.2;
      const Training want = expected(run, formula);
      const Training one = found<Kernel>(run, 1, numbers...);
      run.rounded = scale == 1.0 ? DType::bf16 : DType::f16;
      const Training two = found<Kernel>(run, 2, numbers...);
      expect_close(one.w, want.w);
      EXPECT_EQ(one.w.data, two.w.data);
      for (size_t s = 0; s < slots; ++s) {
        expect_close(one.slots[s], want.slots[s]);
        EXPECT_EQ(one.slots[s].data, two.slots[s].data);
      }
    }
}

TEST(SgdUpdate, Plain) {
  check<SgdUpdate>(
      0,
      [](double g, double &w, double **, double) {
        w -= kRate * (g + kDecay * w);
      },
      0.0, 0);
}

TEST(SgdUpdate, Momentum) {
  check<SgdUpdate>(
      1,
      [](double g, double &w, double **s, double) {
        *s[0] = 0.75 * *s[0] + g + kDecay * w;
        w -= kRate * *s[0];
      },
      0.75, 0);
}

TEST(SgdUpdate, Nesterov) {
  check<SgdUpdate>(
      1,
      [](double g, double &w, double **s, double) {
        const double slope = g + kDecay * w;
        *s[0] = 0.75 * *s[0] + slope;
        w -= kRate * (slope + 0.75 * *s[0]);
      },
      0.75, 1);
}

TEST(AdamUpdate, DecayInTheGradient) {
  check<AdamUpdate>(
      2,
      [](double g, double &w, double **s, double t) {
        w -= kRate * direction(g + kDecay * w, s, t);
      },
      0.75, 0.875, 0.01);
}

TEST(AdamUpdate, WithoutStepsThatWereSkipped) {
  std::mt19937 random(seed());
  Training run(37, 2, 0.375, random);
  const Training at_once = found<AdamUpdate>(run, 1, 0.75, 0.875, 0.01);
  run.skipped = 3;
  const Training later = found<AdamUpdate>(run, 1, 0.75, 0.875, 0.01);
  EXPECT_EQ(at_once.w.data, later.w.data);
}

TEST(AdamwUpdate, DecayBesideTheGradient) {
  check<AdamwUpdate>(
      2,
      [](double g, double &w, double **s, double t) {
        w -= kRate * (direction(g, s, t) + kDecay * w);
      },
      0.75, 0.875, 0.01);
}

TEST(HfAdamwUpdate, DecayAfterTheStep) {
  check<HfAdamwUpdate>(
      2,
      [](double g, double &w, double **s, double t) {
        *s[0] = 0.75 * *s[0] + 0.25 * g;
        *s[1] = 0.875 * *s[1] + 0.125 * g * g;
        w -= kRate * std::sqrt(1 - std::pow(0.875, t)) /
             (1 - std::pow(0.75, t)) * *s[0] / (std::sqrt(*s[1]) + 0.01);
        w -= kRate * kDecay * w;
      },
      0.75, 0.875, 0.01);
}

TEST(LionUpdate, SignOfTheMean) {
  check<LionUpdate>(
      1,
      [](double g, double &w, double **s, double) {
        const double mean = 0.75 * *s[0] + 0.25 * g;
        w -= kRate * ((mean > 0) - (mean < 0) + kDecay * w);
        *s[0] = 0.875 * *s[0] + 0.125 * g;
      },
      0.75, 0.875);
}

TEST(LionUpdate, SignOfZero) {
  const Value one({3}, 1.0), zero({3});
  Context cx;
  cx.learning_rate = kRate;
  const Tile w(one, one.whole()), g(zero, zero.whole()), m(zero, zero.whole());
  perform(LionUpdate(cx, {w, g, Tensor(), m}, {w, m}, 0.75, 0.875),
          {w, g, Tensor(), m}, {w, m});
  EXPECT_EQ(value_of(w, one).data, one.data);
}

/// Of no rate, decay or bound.
TEST(EmaUpdate, RunningMean) {
  std::mt19937 random(seed());
  const int64_t n = 37;
  const Value mean = random_value({n}, random), w = random_value({n}, random);
  const Tile tm(mean, mean.whole()), tw(w, w.whole());
  Context cx;
  cx.learning_rate = kRate;
  cx.weight_decay = kDecay;
  cx.clip_value = 0.1;
  cx.own_rates[&cx] = {1, 0};
  perform(EmaUpdate(cx, {tm, tw, Tensor()}, {tm}, 0.75), {tm, tw, Tensor()},
          {tm});
  Value want = mean;
  for (int64_t i = 0; i < n; ++i)
    want.data[i] = 0.75 * mean.data[i] + 0.25 * w.data[i];
  expect_close(value_of(tm, mean), want);
}

TEST(AdagradUpdate, SumOfSquares) {
  check<AdagradUpdate>(
      1,
      [](double g, double &w, double **s, double) {
        const double slope = g + kDecay * w;
        *s[0] += slope * slope;
        w -= kRate * slope / (std::sqrt(*s[0]) + 0.01);
      },
      0.01);
}

TEST(RmspropUpdate, MeanOfSquares) {
  check<RmspropUpdate>(
      1,
      [](double g, double &w, double **s, double) {
        const double slope = g + kDecay * w;
        *s[0] = 0.75 * *s[0] + 0.25 * slope * slope;
        w -= kRate * slope / (std::sqrt(*s[0]) + 0.01);
      },
      0.75, 0.01, 0.0);
}

TEST(RmspropUpdate, Momentum) {
  check<RmspropUpdate>(
      2,
      [](double g, double &w, double **s, double) {
        const double slope = g + kDecay * w;
        *s[0] = 0.75 * *s[0] + 0.25 * slope * slope;
        *s[1] = 0.5 * *s[1] + slope / (std::sqrt(*s[0]) + 0.01);
        w -= kRate * *s[1];
      },
      0.75, 0.01, 0.5);
}

} // namespace
