//===- attention_split.cpp - attention over some of the positions ---------===//
#include "ffrt/attention.h"

#include "cpu/attention/attention_blocks.h"
#include "cpu/kernels/lanes.h"
#include "ffrt/fast_math.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace ffrt {

namespace {

/// What both passes over the scores share.
struct SplitTile : AttentionTile {
  using AttentionTile::AttentionTile;

  void reserve() const {
    Scratch counted;
    take_head(counted);
    Scratch::reserve(counted);
  }

  /// Row (n, h, t) of a tensor [N, H, T].
  Real *row_of(const Tensor &sums, int64_t n, int64_t h, int64_t t) const {
    return sums.as<Real>() + row_at(n, h, t);
  }

  /// Calls body(n, h) for all heads, on all threads.
  template <class Body> void for_heads(Body body) const {
    parallel_for(samples * heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task)
        body(task / heads, task % heads);
    });
  }

  /// Calls body(t, count) for all blocks of rows.
  template <class Body> void for_rows(Body body) const {
    for (int64_t t = 0; t < rows; t += kBlockRows)
      body(t, std::min(kBlockRows, rows - t));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The largest scores
//===----------------------------------------------------------------------===//

struct AttentionMax::Impl : SplitTile {
  using SplitTile::SplitTile;

  void run(const Tensor &q, const Tensor &k, const Tensor &mask,
           const Tensor &most, int64_t n, int64_t h) const {
    Scratch scratch = Scratch::of_thread();
    const Head own = take_head(scratch);
    read_columns(k, n, h, own.keys);
    for_rows([&](int64_t t, int64_t count) {
      Real *top = row_of(most, n, h, t);
      std::fill_n(top, count, -__builtin_inff());
      for_scores(own, q, mask, n, h, t, count, /*skip=*/false,
                 [&](int64_t, int64_t n_keys) {
                   for (int64_t i = 0; i < count; ++i) {
                     const Real *row = own.scores + i * kBlockKeys;
                     top[i] = max_over(n_keys, top[i],
                                       [=](int64_t j) { return row[j]; });
                   }
                 });
    });
  }
};

AttentionMax::AttentionMax(Context &cx, Tensors in, Tensors out, int64_t causal,
                           const Reals &hidden, int64_t key, double ratio,
                           double scale) {
  impl = std::make_unique<Impl>(
      cx, check_attention_max(in, out, {causal, hidden, key, ratio, scale}));
  impl->reserve();
}

AttentionMax::~AttentionMax() = default;

void AttentionMax::operator()(Tensors in, Tensors out) {
  const Tensor *t = in.begin();
  impl->for_heads([&](int64_t n, int64_t h) {
    impl->run(t[0], t[1], t[2], out.begin()[0], n, h);
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

struct AttentionSum::Impl : SplitTile {
  using SplitTile::SplitTile;

  /// Scores become what values are multiplied by.
  void exponentials(const Head &own, const Real *top, Real *total, int64_t n,
                    int64_t h, int64_t t, int64_t count, int64_t s,
                    int64_t n_keys) const {
    for (int64_t i = 0; i < count; ++i) {
      Real *row = own.scores + i * kBlockKeys;
      // Where there is nothing but -infinity there is nothing to scale.
      const Real base = top[i] == -__builtin_inff() ? 0.0f : top[i];
#pragma GCC ivdep
      for (int64_t j = 0; j < n_keys; ++j)
        row[j] = fast_exp(row[j] - base);
      total[i] += Real(sum_over(n_keys, [=](int64_t j) { return row[j]; }));
      if (ratio > 0) {
        Real factors[kBlockKeys];
        draw(n, h, t + i, s, n_keys, factors);
        for (int64_t j = 0; j < n_keys; ++j)
          row[j] *= factors[j];
      }
    }
  }

  void run(Tensors in, const Tensor &total, const Tensor &sum, int64_t n,
           int64_t h) const {
    const Tensor &q = in.begin()[0], &k = in.begin()[1], &v = in.begin()[2],
                 &mask = in.begin()[3], &most = in.begin()[4];
    Scratch scratch = Scratch::of_thread();
    const Head own = take_head(scratch);
    const int64_t columns = padded(values);
    read_columns(k, n, h, own.keys);
    read_rows(v, n, h, 0, keys, own.values);
    for_rows([&](int64_t t, int64_t count) {
      const Real *top = row_of(most, n, h, t);
      Real *totals = row_of(total, n, h, t);
      std::fill_n(totals, count, 0.0f);
      std::fill_n(own.sums, count * columns, 0.0f);
      // Beside other scores those that were replaced may be nothing.
      const bool skip =
          replaces && *std::min_element(top, top + count) > hidden + kVanishes;
      for_scores(own, q, mask, n, h, t, count, skip,
                 [&](int64_t s, int64_t n_keys) {
                   exponentials(own, top, totals, n, h, t, count, s, n_keys);
                   multiply(count, columns, n_keys, {own.scores, kBlockKeys, 1},
                            own.values + s * columns, columns, own.sums,
                            columns, false);
                 });
      write_rows(own.sums, sum, n, h, t, count);
    });
  }
};

AttentionSum::AttentionSum(Context &cx, Tensors in, Tensors out, int64_t causal,
                           const Reals &hidden, int64_t key, double ratio,
                           double scale) {
  impl = std::make_unique<Impl>(
      cx, check_attention_sum(in, out, {causal, hidden, key, ratio, scale}));
  impl->reserve();
}

AttentionSum::~AttentionSum() = default;

void AttentionSum::operator()(Tensors in, Tensors out) {
  impl->for_heads([&](int64_t n, int64_t h) {
    impl->run(in, out.begin()[0], out.begin()[1], n, h);
  });
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

void AttentionApply::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0], &lse = out.begin()[1];
  const Real *most = in.begin()[0].as<Real>(),
             *total = in.begin()[1].as<Real>(), *sum = in.begin()[2].as<Real>();
  const Index shape = in.begin()[2].shape; // [N, T, H, E]
  const int64_t rows = shape[1], heads = shape[2], values = shape[3];
  parallel_for(shape[0] * rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at)
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t row = (at / rows * heads + h) * rows + at % rows,
                      first = (at * heads + h) * values;
        if (lse.data)
          lse.as<Real>()[row] = most[row] + std::log(total[row]);
        if (!y.data)
          continue;
        const Real factor = 1.0f / total[row];
        with_data(
            [&](auto *to) {
              using T = std::remove_pointer_t<decltype(to)>;
              for (int64_t e = 0; e < values; ++e)
                to[first + e] = T(sum[first + e] * factor);
            },
            y);
      }
  });
}

} // namespace ffrt
