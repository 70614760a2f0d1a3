//===- attention_backward.cpp - gradients of attention --------------------===//
#include "ffrt/attention.h"

#include "common/check.h"
#include "cpu/attention_blocks.h"
#include "cpu/lanes.h"
#include "ffrt/fast_math.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <omp.h>

namespace ffrt {

struct AttentionBackward::Impl : AttentionTile {
  /// Of a thread: keys and values of a head, as rows and as columns, their
  /// gradients; a block of queries, of dy, of dq, of probabilities and of the
  /// gradients of scores; of every row the product of dy and y.
  struct Scratch {
    Floats keys, keys_t, values_t, dk, dv, q, dy, dq, p, ds, product;
  };
  std::vector<Scratch> scratch;

  using AttentionTile::AttentionTile;

  void prepare() {
    const int64_t d = padded(width), e = padded(values), s = padded(keys);
    for (int i = 0; i < omp_get_max_threads(); ++i)
      scratch.push_back({Floats(keys * d), Floats(width * s),
                         Floats(values * s), Floats(keys * d), Floats(keys * e),
                         Floats(kBlockRows * d), Floats(kBlockRows * e),
                         Floats(kBlockRows * d),
                         Floats(kBlockRows * kBlockKeys),
                         Floats(kBlockRows * kBlockKeys), Floats(kBlockRows)});
  }

  /// Probabilities and the gradients of scores from position `s` on; false if
  /// all are 0.
  bool slopes(Scratch &own, const Tensor &mask, const float *lse, int64_t n,
              int64_t h, int64_t t, int64_t count, int64_t s,
              int64_t n_keys) const {
    const float *masked = mask_at(mask, n, h, t, s);
    if (replaces && *std::min_element(lse, lse + count) > hidden + kVanishes &&
        all_hidden(masked, count, n_keys))
      return false;
    multiply(count, padded(n_keys), width, {own.q.data(), padded(width), 1},
             own.keys_t.data() + s, padded(keys), own.p.data(), kBlockKeys,
             true);
    finish_scores(own.p.data(), count, n_keys, masked);
    multiply(count, padded(n_keys), values, {own.dy.data(), padded(values), 1},
             own.values_t.data() + s, padded(keys), own.ds.data(), kBlockKeys,
             true);
    for (int64_t i = 0; i < count; ++i) {
      float *p = own.p.data() + i * kBlockKeys,
            *ds = own.ds.data() + i * kBlockKeys;
      const float log = lse[i], product = own.product.data()[i];
#pragma GCC ivdep
      for (int64_t j = 0; j < n_keys; ++j) {
        p[j] = fast_exp(p[j] - log);
        ds[j] = scale * p[j] * (ds[j] - product);
      }
      if (!replaces)
        continue;
      const float *row = masked + i * mask_strides[2];
      for (int64_t j = 0; j < n_keys; ++j)
        ds[j] = row[j * mask_strides[3]] != 0.0f ? 0.0f : ds[j];
    }
    return true;
  }

  void rows_of_block(Scratch &own, const Tensor &y, const Tensor &mask,
                     const float *lse, int64_t n, int64_t h, int64_t t,
                     int64_t count) const {
    const int64_t d = padded(width), e = padded(values);
    for (int64_t i = 0; i < count; ++i) {
      const float *row = head(y, n, h) + (t + i) * between(values),
                  *slope = own.dy.data() + i * e;
      own.product.data()[i] =
          float(sum_over(values, [=](int64_t j) { return row[j] * slope[j]; }));
    }
    std::fill_n(own.dq.data(), count * d, 0.0f);
    for (int64_t s = 0; s < keys; s += kBlockKeys) {
      const int64_t n_keys = std::min(kBlockKeys, keys - s);
      if (!slopes(own, mask, lse, n, h, t, count, s, n_keys))
        continue;
      multiply(count, d, n_keys, {own.ds.data(), kBlockKeys, 1},
               own.keys.data() + s * d, d, own.dq.data(), d, false);
      multiply(n_keys, d, count, {own.ds.data(), 1, kBlockKeys}, own.q.data(),
               d, own.dk.data() + s * d, d, false);
      multiply(n_keys, e, count, {own.p.data(), 1, kBlockKeys}, own.dy.data(),
               e, own.dv.data() + s * e, e, false);
    }
  }

  /// Scratch of padded(width) columns to a tensor.
  static void unpack(const float *from, int64_t positions, int64_t width,
                     int64_t apart, float *to) {
    for (int64_t i = 0; i < positions; ++i)
      std::copy_n(from + i * padded(width), width, to + i * apart);
  }

  void run(Tensors in, Tensors out, int64_t n, int64_t h) {
    Scratch &own = scratch[std::size_t(omp_get_thread_num())];
    const Tensor *t = in.begin();
    const Tensor &q = t[0], &k = t[1], &v = t[2], &y = t[3], &lse = t[4],
                 &dy = t[5], &mask = t[6];
    const Tensor &dq = out.begin()[0], &dk = out.begin()[1],
                 &dv = out.begin()[2];
    pack_rows(head(k, n, h), keys, width, between(width), own.keys.data());
    pack_columns(head(k, n, h), keys, width, between(width), padded(keys),
                 own.keys_t.data());
    pack_columns(head(v, n, h), keys, values, between(values), padded(keys),
                 own.values_t.data());
    std::fill_n(own.dk.data(), keys * padded(width), 0.0f);
    std::fill_n(own.dv.data(), keys * padded(values), 0.0f);
    for (int64_t row = 0; row < rows; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, rows - row);
      pack_rows(head(q, n, h) + row * between(width), count, width,
                between(width), own.q.data());
      pack_rows(head(dy, n, h) + row * between(values), count, values,
                between(values), own.dy.data());
      rows_of_block(own, y, mask,
                    lse.as<float>() + (n * heads + h) * rows + row, n, h, row,
                    count);
      if (dq.data)
        unpack(own.dq.data(), count, width, between(width),
               head(dq, n, h) + row * between(width));
    }
    if (dk.data)
      unpack(own.dk.data(), keys, width, between(width), head(dk, n, h));
    if (dv.data)
      unpack(own.dv.data(), keys, values, between(values), head(dv, n, h));
  }
};

AttentionBackward::AttentionBackward(Context &, Tensors in, Tensors out,
                                     const Reals &hidden, double scale) {
  const char *kernel = "attention backward";
  expect_count(kernel, "operands", in.size(), 7);
  expect_count(kernel, "results", out.size(), 3);
  const Tensor *t = in.begin(), *r = out.begin();
  impl = std::make_unique<Impl>(kernel, t[0], t[1], t[2], t[6], hidden, scale);
  impl->expect_heads("y", t[3], impl->rows, impl->values);
  impl->expect_sums("lse", t[4]);
  impl->expect_heads("dy", t[5], impl->rows, impl->values);
  impl->expect_heads("dq", r[0], impl->rows, impl->width);
  impl->expect_heads("dk", r[1], impl->keys, impl->width);
  impl->expect_heads("dv", r[2], impl->keys, impl->values);
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
