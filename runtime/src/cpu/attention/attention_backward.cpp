//===- attention_backward.cpp - gradients of attention --------------------===//
#include "ffrt/attention.h"

#include "cpu/attention/attention_blocks.h"
#include "cpu/kernels/lanes.h"
#include "ffrt/fast_math.h"
#include "ffrt/parallel.h"

#include <algorithm>

namespace ffrt {

struct AttentionBackward::Impl : AttentionTile {
  /// Keys and values of a head, as rows and as columns, their gradients; a
  /// block of queries, of dy, of dq, of probabilities and of the gradients of
  /// scores; of every row the product of dy and y.
  struct Head {
    Real *keys, *keys_t, *values_t, *dk, *dv, *q, *dy, *dq, *p, *ds, *product;
  };

  using AttentionTile::AttentionTile;

  void prepare() {
    Scratch counted;
    take(counted);
    Scratch::reserve(counted);
  }

  Head take(Scratch &scratch) const {
    const int64_t d = padded(width), e = padded(values), s = padded(keys);
    Head own;
    own.keys = scratch.take(keys * d);
    own.keys_t = scratch.take(width * s);
    own.values_t = scratch.take(values * s);
    own.dk = scratch.take(keys * d);
    own.dv = scratch.take(keys * e);
    own.q = scratch.take(kBlockRows * d);
    own.dy = scratch.take(kBlockRows * e);
    own.dq = scratch.take(kBlockRows * d);
    own.p = scratch.take(kBlockRows * kBlockKeys);
    own.ds = scratch.take(kBlockRows * kBlockKeys);
    own.product = scratch.take(kBlockRows);
    return own;
  }

  /// Probabilities and the gradients of scores from position `s` on; false if
  /// all are 0.
  bool slopes(const Head &own, const Tensor &mask, const Real *lse, int64_t n,
              int64_t h, int64_t t, int64_t count, int64_t s,
              int64_t n_keys) const {
    const Real *masked = masked_from(mask, n, h, t, s);
    if (replaces && *std::min_element(lse, lse + count) > hidden + kVanishes &&
        all_hidden(masked, count, n_keys))
      return false;
    multiply(count, padded(n_keys), width, {own.q, padded(width), 1},
             own.keys_t + s, padded(keys), own.p, kBlockKeys, true);
    finish_scores(own.p, count, n_keys, masked);
    multiply(count, padded(n_keys), values, {own.dy, padded(values), 1},
             own.values_t + s, padded(keys), own.ds, kBlockKeys, true);
    for (int64_t i = 0; i < count; ++i) {
      Real *p = own.p + i * kBlockKeys, *ds = own.ds + i * kBlockKeys;
      const Real log = lse[i], product = own.product[i];
      if (ratio > 0) {
        Real factors[kBlockKeys];
        draw(n, h, t + i, s, n_keys, factors);
#pragma GCC ivdep
        for (int64_t j = 0; j < n_keys; ++j) {
          const Real whole = fast_exp(p[j] - log);
          p[j] = whole * factors[j];
          ds[j] = scale * whole * (factors[j] * ds[j] - product);
        }
      } else {
#pragma GCC ivdep
        for (int64_t j = 0; j < n_keys; ++j) {
          p[j] = fast_exp(p[j] - log);
          ds[j] = scale * p[j] * (ds[j] - product);
        }
      }
      if (!replaces)
        continue;
      const Real *row = masked + i * mask_strides[2];
      for (int64_t j = 0; j < n_keys; ++j)
        ds[j] = row[j * mask_strides[3]] != 0.0f ? 0.0f : ds[j];
    }
    return true;
  }

  void rows_of_block(const Head &own, const Tensor &y, const Tensor &mask,
                     const Real *lse, int64_t n, int64_t h, int64_t t,
                     int64_t count) const {
    const int64_t d = padded(width), e = padded(values);
    with_data(
        [&](const auto *row) {
          row += vector_at(y, n, h, t);
          for (int64_t i = 0; i < count; ++i, row += between(values)) {
            const Real *slope = own.dy + i * e;
            own.product[i] = Real(sum_over(
                values, [=](int64_t j) { return Real(row[j]) * slope[j]; }));
          }
        },
        y);
    std::fill_n(own.dq, count * d, 0.0f);
    for (int64_t s = 0; s < keys; s += kBlockKeys) {
      const int64_t n_keys = std::min(kBlockKeys, keys - s);
      if (!slopes(own, mask, lse, n, h, t, count, s, n_keys))
        continue;
      multiply(count, d, n_keys, {own.ds, kBlockKeys, 1}, own.keys + s * d, d,
               own.dq, d, false);
      multiply(n_keys, d, count, {own.ds, 1, kBlockKeys}, own.q, d,
               own.dk + s * d, d, false);
      multiply(n_keys, e, count, {own.p, 1, kBlockKeys}, own.dy, e,
               own.dv + s * e, e, false);
    }
  }

  void run(Tensors in, Tensors out, int64_t n, int64_t h) const {
    Scratch scratch = Scratch::of_thread();
    const Head own = take(scratch);
    const Tensor *t = in.begin();
    const Tensor &q = t[0], &k = t[1], &v = t[2], &y = t[3], &lse = t[4],
                 &dy = t[5], &mask = t[6];
    const Tensor &dq = out.begin()[0], &dk = out.begin()[1],
                 &dv = out.begin()[2];
    read_rows(k, n, h, 0, keys, own.keys);
    read_columns(k, n, h, own.keys_t);
    read_columns(v, n, h, own.values_t);
    std::fill_n(own.dk, keys * padded(width), 0.0f);
    std::fill_n(own.dv, keys * padded(values), 0.0f);
    for (int64_t row = 0; row < rows; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, rows - row);
      read_rows(q, n, h, row, count, own.q);
      read_rows(dy, n, h, row, count, own.dy);
      rows_of_block(own, y, mask, lse.as<Real>() + row_at(n, h, row), n, h, row,
                    count);
      if (dq.data)
        write_rows(own.dq, dq, n, h, row, count);
    }
    if (dk.data)
      write_rows(own.dk, dk, n, h, 0, keys);
    if (dv.data)
      write_rows(own.dv, dv, n, h, 0, keys);
  }
};

AttentionBackward::AttentionBackward(Context &cx, Tensors in, Tensors out,
                                     int64_t causal, const Reals &hidden,
                                     int64_t key, double ratio, double scale) {
  impl = std::make_unique<Impl>(
      cx,
      check_attention_backward(in, out, {causal, hidden, key, ratio, scale}));
  impl->prepare();
}

AttentionBackward::~AttentionBackward() = default;

void AttentionBackward::operator()(Tensors in, Tensors out) {
  const int64_t heads = impl->heads;
  parallel_for(impl->samples * heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task)
      impl->run(in, out, task / heads, task % heads);
  });
}

} // namespace ffrt
