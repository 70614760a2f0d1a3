//===- deferred_test.cpp - kernels that start together --------------------===//
//
// On an emulated GPU: how many kernels are started, and that what waits has run
// before anything else does.
//
//===----------------------------------------------------------------------===//
#include "common/device/replay.h"
#include "common/device/target.h"
#include "ffrt/conv.h"
#include "ffrt/copy.h"
#include "ffrt/cuda/device.h"
#include "ffrt/elementwise.h"
#include "ffrt/embedding.h"
#include "ffrt/functors.h"
#include "ffrt/fused_kernel.h"
#include "ffrt/matmul.h"
#include "ffrt/optimizer.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <cuda_runtime.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// Parameters with their gradients and moments.
struct Parameters {
  struct One {
    Tile w, g, m, v;
  };
  std::vector<One> all;
  Context cx;

  explicit Parameters(const std::vector<int64_t> &sizes) {
    std::mt19937 random(seed());
    for (int64_t n : sizes) {
      const Value w = random_value({n}, random), g = random_value({n}, random),
                  zero({n});
      const Box box = w.whole();
      all.push_back(
          {Tile(w, box), Tile(g, box), Tile(zero, box), Tile(zero, box)});
    }
    cx.weight_decay = 0.1;
  }

  void update(One &p) {
    AdamUpdate(cx, {p.w, p.g, Tensor(), p.m, p.v}, {p.w, p.m, p.v}, 0.75, 0.875,
               0.01)({p.w, p.g, Tensor(), p.m, p.v}, {p.w, p.m, p.v});
  }
  /// Steps from a to b, each `apart` or not.
  void steps(int a, int b, bool apart) {
    for (cx.step = a; cx.step < b; ++cx.step)
      for (One &p : all) {
        update(p);
        if (apart)
          finish_target();
      }
    finish_target();
  }
  void expect_equal(const Parameters &o) const {
    for (size_t i = 0; i < all.size(); ++i)
      for (auto tile : {&One::w, &One::g, &One::m, &One::v})
        EXPECT_EQ((all[i].*tile).bytes, (o.all[i].*tile).bytes) << i;
  }
};

/// The kernels that f starts, with one whenever the numbers of a step change.
template <class F> int64_t launches(F f) {
  finish_target();
  const int64_t before = emulated::launches();
  f();
  finish_target();
  return emulated::launches() - before;
}

const std::vector<int64_t> kSizes = {1,    4096, 37,  4097, 3,
                                     8192, 1024, 255, 12289};

TEST(Deferred, UpdatesStartTogether) {
  Parameters together(kSizes), apart(kSizes);
  EXPECT_EQ(launches([&] { apart.steps(0, 3, true); }), 3 * (1 + 9));
  EXPECT_EQ(launches([&] { together.steps(0, 3, false); }), 3 * (1 + 1));
  together.expect_equal(apart);
}

TEST(Deferred, ParametersWithRatesOfTheirOwn) {
  Parameters together(kSizes), apart(kSizes);
  for (Parameters *each : {&together, &apart}) {
    double share = 0;
    for (const Parameters::One &p : each->all)
      each->cx.own_rates[p.w.tensor.data] = {share += 0.25, 0.5 * share};
  }
  apart.steps(0, 3, true);
  EXPECT_EQ(launches([&] { together.steps(0, 3, false); }), 3 * (1 + 1));
  together.expect_equal(apart);
}

/// More than the parameters of a kernel hold.
TEST(Deferred, ManyUpdates) {
  const std::vector<int64_t> sizes(200, 5);
  Parameters together(sizes), apart(sizes);
  apart.steps(0, 2, true);
  const int64_t count = launches([&] { together.steps(0, 2, false); });
  EXPECT_GE(count, 2 * (1 + 3));
  EXPECT_LE(count, 2 * (1 + 4));
  together.expect_equal(apart);
}

/// Data that no group begins at.
TEST(Deferred, AnyAlignment) {
  const int64_t n = 5000;
  Parameters whole({n}), parts({n});
  whole.steps(0, 2, false);
  for (parts.cx.step = 0; parts.cx.step < 2; ++parts.cx.step) {
    Parameters::One &p = parts.all[0];
    for (int64_t lo : {0, 3, 2049}) {
      const int64_t hi = lo == 0 ? 3 : lo == 3 ? 2049 : n;
      auto part = [&](Tensor t) {
        t.data = t.as<float>() + lo;
        t.shape[0] = hi - lo;
        return t;
      };
      const Tensor w = part(p.w), g = part(p.g), m = part(p.m), v = part(p.v);
      AdamUpdate(parts.cx, {w, g, Tensor(), m, v}, {w, m, v}, 0.75, 0.875,
                 0.01)({w, g, Tensor(), m, v}, {w, m, v});
    }
  }
  finish_target();
  parts.expect_equal(whole);
}

/// A second update of the same parameter sees the first one.
TEST(Deferred, OrderOfWhatDepends) {
  Parameters twice({100}), apart({100});
  cuda::device().scalars(twice.cx);
  EXPECT_EQ(launches([&] {
              twice.update(twice.all[0]);
              twice.update(twice.all[0]);
            }),
            2);
  apart.update(apart.all[0]);
  finish_target();
  apart.update(apart.all[0]);
  finish_target();
  twice.expect_equal(apart);
}

/// Copies, and rules with other numbers, come after what waits.
TEST(Deferred, OthersComeAfter) {
  Parameters p({100, 100}), q({100, 100});
  q.steps(0, 1, true);
  Tile copied = blank({100}, {{0}, {100}});
  p.update(p.all[0]);
  p.update(p.all[1]);
  copy(copied, {0}, p.all[1].w, {0}, {100});
  finish_target();
  EXPECT_EQ(copied.bytes, q.all[1].w.bytes);

  Parameters three({100, 100, 100});
  const double momenta[] = {0.5, 0.5, 0.25};
  EXPECT_EQ(launches([&] {
              for (size_t i = 0; i < 3; ++i) {
                Parameters::One &one = three.all[i];
                SgdUpdate(three.cx, {one.w, one.g, Tensor(), one.v},
                          {one.w, one.v}, momenta[i],
                          0)({one.w, one.g, Tensor(), one.v}, {one.w, one.v});
              }
            }),
            2);
}

/// What libraries compute sees what has waited.
TEST(Deferred, LibrariesComeAfter) {
  std::mt19937 random(seed());
  Context cx;
  const Shape image = {1, 4, 2, 2}, matrix = {4, 4};
  const Value x = random_value(image, random),
              w = random_value({4, 4, 1, 1}, random),
              a = random_value(matrix, random);
  const Tile tx(x, x.whole(), Order::channels_last), tw(w, w.whole()),
      ta(a, a.whole());
  const Tile copied_x = blank(image, x.whole(), Order::channels_last),
             copied_a = blank(matrix, a.whole());
  const auto convolve = [&](const Tensor &from) {
    const Tile y = blank(image, x.whole(), Order::channels_last);
    ConvForward k(cx, {tx, tw, absent({4})}, {y}, {}, {1, 1}, 1, {0, 0, 0, 0},
                  {1, 1});
    finish_target();
    if (from.data != tx.tensor.data)
      copy(from, {0, 0, 0, 0}, tx, {0, 0, 0, 0}, {1, 4, 2, 2});
    k({from, tw, absent({4})}, {y});
    finish_target();
    return y.bytes;
  };
  EXPECT_EQ(convolve(copied_x), convolve(tx));
  const auto multiply = [&](const Tensor &from) {
    const Tile y = blank(matrix, a.whole());
    MatMul k(cx, {ta, ta, Tensor(), Tensor()}, {y}, 1, 1, {}, 0, 0);
    finish_target();
    if (from.data != ta.tensor.data)
      copy(from, {0, 0}, ta, {0, 0}, {4, 4});
    k({from, ta, Tensor(), Tensor()}, {y});
    finish_target();
    return y.bytes;
  };
  EXPECT_EQ(multiply(copied_a), multiply(ta));
}

/// Copies and functions of few elements; large ones start by themselves.
TEST(Deferred, SmallMaps) {
  Parameters p(kSizes);
  std::vector<Tile> copies, results;
  for (int64_t n : kSizes) {
    copies.push_back(blank({n}, {{0}, {n}}));
    results.push_back(blank({n}, {{0}, {n}}));
  }
  EXPECT_EQ(launches([&] {
              for (size_t i = 0; i < kSizes.size(); ++i)
                copy(copies[i], {0}, p.all[i].w, {0}, {kSizes[i]});
              for (size_t i = 0; i < kSizes.size(); ++i)
                ReluForward(p.cx, {copies[i]}, {results[i]})({copies[i]},
                                                             {results[i]});
            }),
            2);
  for (size_t i = 0; i < kSizes.size(); ++i)
    for (int64_t k = 0; k < kSizes[i]; ++k)
      ASSERT_EQ(results[i].get({k}), std::max(0.0, p.all[i].w.get({k})));

  // Each sees what the one before has written.
  EXPECT_EQ(launches([&] {
              for (size_t i = 1; i < 4; ++i)
                copy(copies[i], {0}, copies[i - 1], {0}, {1});
            }),
            3);
  EXPECT_EQ(copies[3].get({0}), copies[0].get({0}));

  const int64_t n = 70000;
  Parameters large({n, n});
  EXPECT_EQ(launches([&] {
              for (Parameters::One &one : large.all)
                ReluForward(p.cx, {one.w}, {one.m})({one.w}, {one.m});
            }),
            2);
}

/// Elements of two bytes, side by side with those of other maps.
TEST(Deferred, SmallNarrowMaps) {
  using Kernel = Fused<fn::Add, From<BFloat16, float>, BFloat16>;
  const int64_t n = 1000;
  std::mt19937 random(seed());
  const Value a = random_value({n}, random, DType::bf16),
              b = random_value({n}, random);
  const Box whole = a.whole();
  const Tile x(a, whole, Order::row_major, DType::bf16), y(b, whole),
      z = blank({n}, whole, Order::row_major, DType::bf16);
  const auto part = [](Tensor t, int64_t lo, int64_t hi) {
    t.data = static_cast<char *>(t.data) + lo * int64_t(size_of(t.type));
    t.shape[0] = hi - lo;
    return t;
  };
  Context cx;
  const auto add = [&](const Tile &from, int64_t lo, int64_t hi) {
    const Tensor tx = part(from, lo, hi), ty = part(y, lo, hi),
                 tz = part(z, lo, hi);
    Kernel(cx, {tx, ty}, {tz})({tx, ty}, {tz});
  };
  const auto expect_sums = [&](const Value &first) {
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(z.get({i}), float(BFloat16(float(first({i})) + float(b({i})))))
          << i;
  };
  EXPECT_EQ(launches([&] {
              add(x, 0, 3);
              add(x, 3, 512);
              add(x, 512, n);
            }),
            1);
  expect_sums(a);

  // In place of what a map before has written, the last element of it.
  Value again = a;
  again({2}) = z.get({2});
  EXPECT_EQ(launches([&] {
              add(x, 0, 3);
              add(z, 2, 3);
              add(x, 3, n);
            }),
            2);
  expect_sums(again);
}

/// Sums of squares: two kernels for any number.
TEST(Deferred, SquareSums) {
  Parameters p(kSizes);
  std::vector<Tile> apart, together;
  for (size_t i = 0; i < kSizes.size(); ++i)
    for (auto *sums : {&apart, &together})
      sums->push_back(blank({}, {}));
  // Constructors allocate, which starts what waits.
  std::vector<SquareSum> kernels;
  for (size_t i = 0; i < kSizes.size(); ++i)
    kernels.emplace_back(p.cx, Tensors{p.all[i].w}, Tensors{apart[i]});
  for (size_t i = 0; i < kSizes.size(); ++i) {
    kernels[i]({p.all[i].w}, {apart[i]});
    finish_target();
  }
  EXPECT_EQ(launches([&] {
              for (size_t i = 0; i < kSizes.size(); ++i)
                kernels[i]({p.all[i].w}, {together[i]});
            }),
            2);
  for (size_t i = 0; i < kSizes.size(); ++i)
    EXPECT_EQ(apart[i].bytes, together[i].bytes) << i;
}

/// Lookups of many tables, and updates of their rows.
TEST(Deferred, Tables) {
  struct One {
    Tile table, ids, y, dy;
    std::unique_ptr<EmbeddingForward> look;
    std::unique_ptr<SgdUpdateRows> update;
  };
  std::mt19937 random(seed());
  Context cx;
  std::vector<One> together, apart;
  // The last one has more lookups than are sorted at once.
  for (int64_t n : {5, 100, 2048, 37, 64, 3000}) {
    const Value table = random_value({7, 6}, random),
                dy = random_value({n, 6}, random);
    Value ids({n});
    for (double &id : ids.data)
      id = double(random() % 7);
    for (auto *all : {&together, &apart}) {
      One &one = all->emplace_back(
          One{Tile(table, table.whole()),
              Tile(ids, ids.whole(), Order::row_major, DType::i32),
              blank(dy.shape, dy.whole()),
              Tile(dy, dy.whole()),
              {},
              {}});
      one.look = std::make_unique<EmbeddingForward>(
          cx, Tensors{one.table, one.ids}, Tensors{one.y});
      one.update = std::make_unique<SgdUpdateRows>(
          cx, Tensors{one.table, one.ids, one.dy, Tensor()},
          Tensors{one.table});
    }
  }
  const auto run = [&](std::vector<One> &all, bool each) {
    for (One &one : all) {
      (*one.look)({one.table, one.ids}, {one.y});
      if (each)
        finish_target();
    }
    for (One &one : all) {
      (*one.update)({one.table, one.ids, one.dy, Tensor()}, {one.table});
      if (each)
        finish_target();
    }
  };
  run(apart, true);
  // One for the lookups; three for the tables that are sorted at once, four for
  // the last.
  EXPECT_EQ(launches([&] { run(together, false); }), 1 + 3 + 4);
  for (size_t i = 0; i < apart.size(); ++i) {
    EXPECT_EQ(apart[i].y.bytes, together[i].y.bytes) << i;
    EXPECT_EQ(apart[i].table.bytes, together[i].table.bytes) << i;
  }
}

/// What waits at the end of captured work belongs to it.
TEST(Deferred, Capture) {
  Parameters captured(kSizes), apart(kSizes);
  apart.steps(0, 4, true);
  Replay replay;
  for (captured.cx.step = 0; captured.cx.step < 4; ++captured.cx.step)
    replay.run(captured.cx, [&] {
      for (Parameters::One &p : captured.all)
        captured.update(p);
    });
  finish_target();
  captured.expect_equal(apart);
}

} // namespace
