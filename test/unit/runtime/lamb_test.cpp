//===- lamb_test.cpp - the two halves of LAMB ----------------------------===//
#include "optimizer_case.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

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

} // namespace
