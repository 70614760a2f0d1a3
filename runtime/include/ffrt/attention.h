//===- attention.h - scaled dot-product attention of all heads --*- C++ -*-===//
//
// What it computes is said with ff.attention. q, y, dy and dq are [N, T, H, D]
// or, where values have another width, [N, T, H, E]; k, v, dk and dv are
// [N, S, H, D] and [N, S, H, E]; lse is [N, H, T]. The mask, which may be
// absent, broadcasts to [N, H, T, S]. Type f32, row-major; q, k, v and dy,
// which are operands of products, may all be bf16 or f16, with them y, and each
// of dq, dk and dv. All is computed in f32, and results are rounded once.
//
// Scores are computed a block of rows and a block of positions at a time and
// never stored as a whole (Dao et al., NeurIPS 2022).
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_ATTENTION_H
#define FFRT_ATTENTION_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

/// {q, k, v, mask} -> {y, lse}, with all positions S in the tile. lse may be
/// absent. `causal` is 0 or 1, `hidden` has at most one number; with a `ratio`
/// over 0, `key` is that of dropout.
class AttentionForward {
public:
  AttentionForward(Context &cx, Tensors in, Tensors out, int64_t causal,
                   const Reals &hidden, int64_t key, double ratio,
                   double scale);
  ~AttentionForward();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

// Where a tile has some of the positions S, the largest scores of all tiles are
// found first.

/// {q, k, mask} -> {most}: of every row [N, H, T], the largest score.
class AttentionMax {
public:
  AttentionMax(Context &cx, Tensors in, Tensors out, int64_t causal,
               const Reals &hidden, int64_t key, double ratio, double scale);
  ~AttentionMax();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// {q, k, v, mask, most} -> {total, sum}: the tile's sums of exp(score - most)
/// [N, H, T], and of these times v [N, T, H, E].
class AttentionSum {
public:
  AttentionSum(Context &cx, Tensors in, Tensors out, int64_t causal,
               const Reals &hidden, int64_t key, double ratio, double scale);
  ~AttentionSum();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// {most, total, sum} -> {y, lse}, with the sums of all tiles. y is f32, bf16
/// or f16.
class AttentionApply {
public:
  AttentionApply(Context &cx, Tensors in, Tensors out, int64_t causal,
                 const Reals &hidden, int64_t key, double ratio, double scale);
  void operator()(Tensors in, Tensors out);
};

/// {q, k, v, y, lse, dy, mask} -> {dq, dk, dv}, any of which may be absent: dk
/// and dv are sums over the tile's own positions T, dq over its positions S.
class AttentionBackward {
public:
  AttentionBackward(Context &cx, Tensors in, Tensors out, int64_t causal,
                    const Reals &hidden, int64_t key, double ratio,
                    double scale);
  ~AttentionBackward();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_ATTENTION_H
