//===- attention_forward.cpp - attention, block by block ------------------===//
#include "ffrt/attention.h"

#include "cpu/attention/attention_blocks.h"
#include "cpu/kernels/lanes.h"
#include "ffrt/fast_math.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <cmath>
#include <omp.h>

namespace ffrt {

struct AttentionForward::Impl : AttentionTile {
  /// And of every row its largest score and the sum of exponentials.
  struct Head : AttentionTile::Head {
    Real *top, *total;
  };
  int64_t parts; ///< that the rows of a head are cut into, for the threads

  using AttentionTile::AttentionTile;

  void prepare() {
    const int64_t threads = omp_get_max_threads(),
                  blocks = (rows + kBlockRows - 1) / kBlockRows,
                  wanted = (2 * threads + samples * heads - 1) /
                           std::max<int64_t>(samples * heads, 1);
    parts = threads == 1 ? 1 : std::clamp<int64_t>(wanted, 1, blocks);
    Scratch counted;
    take(counted);
    Scratch::reserve(counted);
  }

  Head take(Scratch &scratch) const {
    Head own{take_head(scratch), nullptr, nullptr};
    own.top = scratch.take(kBlockRows);
    own.total = scratch.take(kBlockRows);
    return own;
  }

  /// Takes the block of scores from row `t` and position `s` on into account.
  void add_block(const Head &own, int64_t n, int64_t h, int64_t t,
                 int64_t count, int64_t s, int64_t n_keys) const {
    const int64_t columns = padded(values);
    for (int64_t i = 0; i < count; ++i) {
      Real *row = own.scores + i * kBlockKeys;
      const Real most =
          max_over(n_keys, own.top[i], [=](int64_t j) { return row[j]; });
      // Where nothing but -infinity has been seen there is nothing to scale.
      const Real base = most == -__builtin_inff() ? 0.0f : most;
      const Real factor = fast_exp(own.top[i] - base);
#pragma GCC ivdep
      for (int64_t j = 0; j < n_keys; ++j)
        row[j] = fast_exp(row[j] - base);
      const auto sum =
          Real(sum_over(n_keys, [=](int64_t j) { return row[j]; }));
      own.top[i] = most;
      own.total[i] = own.total[i] * factor + sum;
      if (factor != 1.0f) {
        Real *result = own.sums + i * columns;
        for (int64_t e = 0; e < columns; ++e)
          result[e] *= factor;
      }
    }
    for (int64_t i = 0; ratio > 0 && i < count; ++i) {
      Real factors[kBlockKeys], *row = own.scores + i * kBlockKeys;
      draw(n, h, t + i, s, n_keys, factors);
      for (int64_t j = 0; j < n_keys; ++j)
        row[j] *= factors[j];
    }
    multiply(count, columns, n_keys, {own.scores, kBlockKeys, 1},
             own.values + s * columns, columns, own.sums, columns, false);
  }

  /// Rows t to t + count of a head, whose keys and values are packed. With
  /// `skip`, blocks of which all scores are replaced are left out.
  void rows_of_block(const Head &own, const Tensor &q, const Tensor &mask,
                     int64_t n, int64_t h, int64_t t, int64_t count,
                     bool skip) const {
    std::fill_n(own.top, count, -__builtin_inff());
    std::fill_n(own.total, count, 0.0f);
    std::fill_n(own.sums, count * padded(values), 0.0f);
    for_scores(own, q, mask, n, h, t, count, skip,
               [&](int64_t s, int64_t n_keys) {
                 add_block(own, n, h, t, count, s, n_keys);
               });
  }

  void run(const Tensor &q, const Tensor &k, const Tensor &v,
           const Tensor &mask, const Tensor &y, const Tensor &lse,
           int64_t task) const {
    Scratch scratch = Scratch::of_thread();
    const Head own = take(scratch);
    const int64_t n = task / parts / heads, h = task / parts % heads,
                  part = task % parts;
    read_columns(k, n, h, own.keys);
    read_rows(v, n, h, 0, keys, own.values);
    const int64_t blocks = (rows + kBlockRows - 1) / kBlockRows;
    const int64_t end =
        std::min(rows, blocks * (part + 1) / parts * kBlockRows);
    for (int64_t t = blocks * part / parts * kBlockRows; t < end;
         t += kBlockRows) {
      const int64_t count = std::min(kBlockRows, end - t);
      rows_of_block(own, q, mask, n, h, t, count, replaces);
      // What was left out is nothing beside what was not, but for rows that
      // see nothing else.
      if (replaces &&
          *std::min_element(own.top, own.top + count) < hidden + kVanishes)
        rows_of_block(own, q, mask, n, h, t, count, false);
      for (int64_t i = 0; i < count; ++i) {
        const Real factor = 1.0f / own.total[i];
        Real *sums = own.sums + i * padded(values);
        for (int64_t e = 0; e < values; ++e)
          sums[e] *= factor;
        if (lse.data)
          lse.as<Real>()[row_at(n, h, t + i)] =
              own.top[i] + std::log(own.total[i]);
      }
      write_rows(own.sums, y, n, h, t, count);
    }
  }
};

AttentionForward::AttentionForward(Context &cx, Tensors in, Tensors out,
                                   int64_t causal, const Reals &hidden,
                                   int64_t key, double ratio, double scale) {
  impl = std::make_unique<Impl>(
      cx,
      check_attention_forward(in, out, {causal, hidden, key, ratio, scale}));
  impl->prepare();
}

AttentionForward::~AttentionForward() = default;

void AttentionForward::operator()(Tensors in, Tensors out) {
  const Tensor *t = in.begin();
  parallel_for(impl->samples * impl->heads * impl->parts, 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task)
                   impl->run(t[0], t[1], t[2], t[3], out.begin()[0],
                             out.begin()[1], task);
               });
}

} // namespace ffrt
