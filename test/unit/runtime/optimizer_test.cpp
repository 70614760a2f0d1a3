//===- optimizer_test.cpp - updates by their formulas, in doubles ---------===//
#include "ffrt/optimizer.h"

#include "common/device/target.h"
#include "ffrt/error.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <omp.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

constexpr int64_t kSteps = 4;
constexpr double kRate = 0.05, kDecay = 0.1;

/// w, gradients of all steps, and slots, all of one shape; zeros as slots.
struct Training {
  Value w;
  std::vector<Value> gradients, slots;
  double scale = 1;
  int64_t skipped = 0;        ///< steps before the first
  DType rounded = DType::f32; ///< of w besides; f32: none
  double clip = HUGE_VAL;     ///< of scaled gradients
  double share = 1;           ///< of the learning rate
  bool is_own = false;        ///< rate and decay are the parameter's own

  Training(int64_t n, size_t slots, double scale, std::mt19937 &random)
      : w(random_value({n}, random)), slots(slots, Value({n})), scale(scale) {
    for (int64_t i = 0; i < kSteps; ++i)
      gradients.push_back(random_value({n}, random));
  }
};

/// One element of all: the gradient, the weight, the slots, the step from 1 on.
using Formula = void (*)(double g, double &w, double **s, double t);

Training expected(Training run, Formula formula) {
  for (int64_t step = 0; step < kSteps; ++step)
    for (size_t i = 0; i < run.w.data.size(); ++i) {
      double *slots[2] = {};
      for (size_t s = 0; s < run.slots.size(); ++s)
        slots[s] = &run.slots[s].data[i];
      const double g = run.scale * run.gradients[step].data[i];
      formula(std::clamp(g, -run.clip, run.clip), run.w.data[i], slots,
              double(step + 1));
    }
  return run;
}

/// Restores the number of threads when it goes.
class Threads {
public:
  explicit Threads(int count) : before(omp_get_max_threads()) {
    omp_set_num_threads(count);
  }
  ~Threads() { omp_set_num_threads(before); }

private:
  int before;
};

Value value_of(const Tile &tile, const Value &like) {
  Value value(like.shape);
  add_tile(value, tile, like.whole());
  return value;
}

/// Calls a kernel that may wait for more of its kind.
template <class Kernel> void perform(Kernel &&kernel, Tensors in, Tensors out) {
  kernel(in, out);
  finish_target();
}

/// All steps by a kernel, whose numbers come last.
template <class Kernel, class... Numbers>
Training found(const Training &run, int threads, Numbers... numbers) {
  const Threads scope(threads);
  Context cx;
  Tile w(run.w, run.w.whole()), g(run.w, run.w.whole());
  cx.learning_rate = run.is_own ? kRate : run.share * kRate;
  cx.weight_decay = run.is_own ? 7 : kDecay;
  cx.clip_value = run.clip;
  if (run.is_own)
    cx.own_rates[w.tensor.data] = {run.share, kDecay};
  std::vector<Tile> slots;
  for (const Value &slot : run.slots)
    slots.emplace_back(slot, slot.whole());
  Value factor(run.skipped == 0 ? Shape() : Shape{2}, run.scale);
  if (run.skipped != 0)
    factor.data[1] = double(run.skipped);
  Tile scale(factor, factor.whole());
  const Tensor s = run.scale == 1 ? absent({}) : scale.tensor;
  const Tile c =
      blank(run.w.shape, run.w.whole(), Order::row_major, run.rounded);
  for (int64_t step = 0; step < kSteps; ++step) {
    cx.step = run.skipped + step;
    const Value &gradient = run.gradients[size_t(step)];
    Tile now(gradient, gradient.whole());
    auto call = [&](Tensors in, Tensors out, Tensors with_rounded) {
      if (run.rounded != DType::f32)
        out = with_rounded;
      perform(Kernel(cx, in, out, numbers...), in, out);
    };
    if (slots.empty())
      call({w, now, s}, {w}, {w, c});
    else if (slots.size() == 1)
      call({w, now, s, slots[0]}, {w, slots[0]}, {w, slots[0], c});
    else
      call({w, now, s, slots[0], slots[1]}, {w, slots[0], slots[1]},
           {w, slots[0], slots[1], c});
    if (run.rounded != DType::f32)
      expect_rounded(c, w, run.w.whole());
  }
  Training result = run;
  result.w = value_of(w, run.w);
  for (size_t i = 0; i < slots.size(); ++i)
    result.slots[i] = value_of(slots[i], run.w);
  return result;
}

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
  check_own<SgdUpdate>(1, 0.75, 1);
  check_own<AdamUpdate>(2, 0.75, 0.875, 0.01);
  check_own<AdamwUpdate>(2, 0.75, 0.875, 0.01);
  check_own<HfAdamwUpdate>(2, 0.75, 0.875, 0.01);
  check_own<LionUpdate>(1, 0.75, 0.875);
  check_own<AdagradUpdate>(1, 0.01);
  check_own<RmspropUpdate>(1, 0.75, 0.01, 0.0);
  check_own<RmspropUpdate>(2, 0.75, 0.01, 0.5);
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
  check_narrow<SgdUpdate>(1, 0.75, 1);
  check_narrow<AdamUpdate>(2, 0.75, 0.875, 0.01);
  check_narrow<AdamwUpdate>(2, 0.75, 0.875, 0.01);
  check_narrow<HfAdamwUpdate>(2, 0.75, 0.875, 0.01);
  check_narrow<LionUpdate>(1, 0.75, 0.875);
  check_narrow<AdagradUpdate>(1, 0.01);
  check_narrow<RmspropUpdate>(1, 0.75, 0.01, 0.0);
  check_narrow<RmspropUpdate>(2, 0.75, 0.01, 0.5);
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

TEST(Lamb, NarrowMoments) {
  std::mt19937 random(seed());
  const int64_t n = 20001;
  const Value w = random_value({n}, random), g = random_value({n}, random),
              zero({n});
  const Box all = w.whole();
  const Tile tw(w, all), tg(g, all);
  Context cx;
  const auto direct = [&](DType type) {
    std::vector<Tile> tiles;
    for (int moment = 0; moment < 2; ++moment)
      tiles.emplace_back(zero, all, Order::row_major, type);
    tiles.push_back(blank({n}, all));
    tiles.push_back(blank({2}, {{0}, {2}}));
    const std::vector<Tensor> in = {tw, tg, Tensor(), tiles[0], tiles[1]},
                              out = {tiles[0], tiles[1], tiles[2], tiles[3]};
    perform(LambDirection(cx, in, out, 0.75, 0.875, 0.01), in, out);
    return tiles;
  };
  const std::vector<Tile> wide = direct(DType::f32),
                          narrow = direct(DType::bf16);
  for (size_t i = 0; i < 2; ++i) {
    expect_rounded(narrow[i], wide[i], all);
    EXPECT_EQ(narrow[2 + i].bytes, wide[2 + i].bytes);
  }
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
  check_skipped<SgdUpdate>(1, 0.75, 1);
  check_skipped<AdamUpdate>(2, 0.75, 0.875, 0.01);
  check_skipped<AdamwUpdate>(2, 0.75, 0.875, 0.01);
  check_skipped<HfAdamwUpdate>(2, 0.75, 0.875, 0.01);
  check_skipped<LionUpdate>(1, 0.75, 0.875);
  check_skipped<AdagradUpdate>(1, 0.01);
  check_skipped<RmspropUpdate>(1, 0.75, 0.01, 0.0);
  check_skipped<RmspropUpdate>(2, 0.75, 0.01, 0.5);
}

/// The direction of Adam's family; changes the moments.
double direction(double g, double **s, double t) {
  *s[0] = 0.75 * *s[0] + 0.25 * g;
  *s[1] = 0.875 * *s[1] + 0.125 * g * g;
  return *s[0] / (1 - std::pow(0.75, t)) /
         (std::sqrt(*s[1] / (1 - std::pow(0.875, t))) + 0.01);
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

/// A parameter in two parts, whose sums are added up between the halves.
TEST(Lamb, TrustInTheWholeParameter) {
  std::mt19937 random(seed());
  for (double scale : {1.0, 0.375})
    for (int threads : {1, 2}) {
      const Threads scope(threads);
      const int64_t n = 70001, cut = 20480;
      const Training run(n, 2, scale, random);
      Value w = run.w, m({n}), v({n}), r({n});
      const Value factor({}, scale);
      Tile tile_of_scale(factor, factor.whole());
      const Tensor s = scale == 1 ? absent({}) : tile_of_scale.tensor;
      const Box boxes[] = {{{0}, {cut}}, {{cut}, {n - cut}}};
      struct Part {
        Tile w, g, m, v, r, norms, c;
      };
      std::vector<Part> parts;
      for (const Box &box : boxes)
        parts.push_back({Tile(w, box), Tile(w, box), Tile(m, box), Tile(v, box),
                         blank({n}, box), blank({2}, {{0}, {2}}),
                         blank({n}, box, Order::row_major, DType::bf16)});
      Context cx;
      cx.learning_rate = kRate;
      cx.clip_value = 0.3;
      for (cx.step = 0; cx.step < kSteps; ++cx.step) {
        const Value &g = run.gradients[size_t(cx.step)];
        for (const Part &p : parts)
          cx.own_rates[p.w.tensor.data] = {1, kDecay};
        double of_w = 0, of_r = 0;
        for (int64_t i = 0; i < n; ++i) {
          double *slots[] = {&m.data[i], &v.data[i]};
          r.data[i] = direction(std::clamp(scale * g.data[i], -0.3, 0.3), slots,
                                double(cx.step + 1)) +
                      kDecay * w.data[i];
          of_w += w.data[i] * w.data[i];
          of_r += r.data[i] * r.data[i];
        }
        for (int64_t i = 0; i < n; ++i)
          w.data[i] -= kRate * std::sqrt(of_w / of_r) * r.data[i];

        Value norms({2});
        for (size_t i = 0; i < parts.size(); ++i) {
          Part &p = parts[i];
          p.g = Tile(g, boxes[i]);
          LambDirection(cx, {p.w, p.g, s, p.m, p.v}, {p.m, p.v, p.r, p.norms},
                        0.75, 0.875, 0.01)({p.w, p.g, s, p.m, p.v},
                                           {p.m, p.v, p.r, p.norms});
          add_tile(norms, p.norms, norms.whole());
        }
        const Tile sum(norms, norms.whole());
        Value together({n});
        for (size_t i = 0; i < parts.size(); ++i) {
          Part &p = parts[i];
          perform(
              LambUpdate(cx, {p.w, p.r, sum}, {p.w, p.c}, 0.75, 0.875, 0.01),
              {p.w, p.r, sum}, {p.w, p.c});
          expect_rounded(p.c, p.w, boxes[i]);
          add_tile(together, p.w, boxes[i]);
        }
        expect_close(together, w);
      }
    }
}

TEST(Lamb, Skipped) {
  std::mt19937 random(seed());
  const Value w = random_value({37}, random), g({37}, HUGE_VAL),
              m = random_value({37}, random), v({37}, 0.5),
              infinite({2}, HUGE_VAL);
  const Tile tw(w, w.whole()), tg(g, g.whole()), tm(m, m.whole()),
      tv(v, v.whole()), ts(infinite, infinite.whole()),
      r = blank({37}, w.whole()), norms = blank({2}, {{0}, {2}});
  Context cx;
  cx.learning_rate = kRate;
  cx.weight_decay = kDecay;
  LambDirection(cx, {tw, tg, ts, tm, tv}, {tm, tv, r, norms}, 0.75, 0.875,
                0.01)({tw, tg, ts, tm, tv}, {tm, tv, r, norms});
  LambUpdate(cx, {tw, r, norms}, {tw}, 0.75, 0.875, 0.01)({tw, r, norms}, {tw});
  EXPECT_EQ(value_of(tw, w).data, w.data);
  EXPECT_EQ(value_of(tm, w).data, m.data);
  EXPECT_EQ(value_of(tv, w).data, v.data);
}

TEST(Lamb, NothingToTrust) {
  Context cx;
  cx.learning_rate = 0.5;
  const Value zero({3}), one({3}, 1.0), norms({2});
  Tile w(zero, zero.whole()), r(one, one.whole()), n(norms, norms.whole());
  perform(LambUpdate(cx, {w, r, n}, {w}, 0.9, 0.999, 1e-6), {w, r, n}, {w});
  EXPECT_EQ(w.get({2}), -0.5);
}

TEST(SquareSum, SameBitsOnAnyThreads) {
  std::mt19937 random(seed());
  for (int64_t n : {1, 37, 100003}) {
    const Value x = random_value({n}, random);
    double want = 0;
    for (double value : x.data)
      want += value * value;
    double sums[2];
    for (int threads : {1, 2}) {
      const Threads scope(threads);
      Context cx;
      Tile tile(x, x.whole()), sum = blank({}, {});
      perform(SquareSum(cx, {tile}, {sum}), {tile}, {sum});
      sums[threads - 1] = sum.get({});
    }
    EXPECT_NEAR(sums[0], want, 1e-6 * want);
    EXPECT_EQ(sums[0], sums[1]);
  }
}

TEST(ClipScale, BoundsTheNorm) {
  Context cx;
  const Value nine({}, 9.0), sixteen({}, 16.0);
  Tile a(nine, nine.whole()), b(sixteen, sixteen.whole()),
      scale = blank({}, {});
  for (double most : {2.0, 5.5}) {
    ClipScale(cx, {a, b}, {scale}, most)({a, b}, {scale});
    EXPECT_NEAR(scale.get({}), std::min(1.0, most / 5.0), 1e-6);
  }
}

/// What LossScale keeps, and steps with these sums of squares.
class Scaling {
public:
  explicit Scaling(double scale) : scale_(tile(scale)) {}

  void step(double first, double second, double max_norm = 0) {
    const Tile a = tile(first), b = tile(second);
    LossScale(cx, {scale_, good_, skipped_, a, b},
              {factor_, scale_, good_, skipped_}, 3, 2, max_norm, 1024)(
        {scale_, good_, skipped_, a, b}, {factor_, scale_, good_, skipped_});
  }
  double scale() const { return scale_.get({}); }
  double good() const { return good_.get({}); }
  double skipped() const { return skipped_.get({}); }
  double factor() const { return factor_.get({0}); }
  double skipped_for_updates() const { return factor_.get({1}); }

private:
  static Tile tile(double value) { return Tile(Value({}, value), {{}, {}}); }

  Context cx;
  Tile scale_, good_ = tile(0), skipped_ = tile(0),
               factor_ = blank({2}, {{0}, {2}});
};

TEST(LossScale, DoublesAfterStepsInARow) {
  Scaling scaling(256);
  for (double wanted :
       {256.0, 256.0, 512.0, 512.0, 512.0, 1024.0, 1024.0, 1024.0, 1024.0}) {
    const double factor = 1 / scaling.scale();
    scaling.step(4, 5);
    EXPECT_EQ(scaling.factor(), factor);
    EXPECT_EQ(scaling.scale(), wanted);
  }
  EXPECT_EQ(scaling.good(), 0);
  EXPECT_EQ(scaling.skipped(), 0);
}

TEST(LossScale, HalvesAndSkips) {
  Scaling scaling(8);
  scaling.step(1, 1);
  EXPECT_EQ(scaling.good(), 1);
  double skipped = 0;
  for (double sum : {HUGE_VAL, std::nan(""), HUGE_VAL}) {
    scaling.step(1, sum);
    EXPECT_EQ(scaling.factor(), HUGE_VAL);
    EXPECT_EQ(scaling.good(), 0);
    EXPECT_EQ(scaling.skipped(), ++skipped);
    EXPECT_EQ(scaling.skipped_for_updates(), skipped);
  }
  EXPECT_EQ(scaling.scale(), 2); // the least
  scaling.step(1, 1);
  EXPECT_EQ(scaling.factor(), 0.5);
  EXPECT_EQ(scaling.skipped_for_updates(), 3);
}

/// Sums that are finite count, whatever their sum would be as f32.
TEST(LossScale, ClipsGradientsOfTheLoss) {
  Scaling scaling(4);
  scaling.step(9 * 16, 16 * 16, 2.0);
  EXPECT_NEAR(scaling.factor(), 2.0 / 5 / 4, 1e-6);
  scaling.step(9 * 16, 16 * 16, 5.5);
  EXPECT_EQ(scaling.factor(), 0.25);
  scaling.step(3e38, 3e38, 1.0);
  EXPECT_EQ(scaling.skipped(), 0);
}

} // namespace
