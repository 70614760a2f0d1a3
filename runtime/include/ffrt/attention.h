//===- attention.h - scaled dot-product attention of all heads --*- C++ -*-===//
//
// What it computes is said with ff.attention. q, y, dy and dq are [N, T, H, D]
// or, where values have another width, [N, T, H, E]; k, v, dk and dv are
// [N, S, H, D] and [N, S, H, E], with all positions S in the tile; lse is
// [N, H, T]. The mask, which may be absent, broadcasts to [N, H, T, S]. Type
// f32, row-major.
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

/// {q, k, v, mask} -> {y, lse}. lse may be absent. `hidden` has at most one
/// number; with a `ratio` over 0, `key` is that of dropout.
class AttentionForward {
public:
  AttentionForward(Context &cx, Tensors in, Tensors out, const Reals &hidden,
                   int64_t key, double ratio, double scale);
  ~AttentionForward();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// {q, k, v, y, lse, dy, mask} -> {dq, dk, dv}, any of which may be absent. dk
/// and dv are sums over the tile's own positions.
class AttentionBackward {
public:
  AttentionBackward(Context &cx, Tensors in, Tensors out, const Reals &hidden,
                    int64_t key, double ratio, double scale);
  ~AttentionBackward();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_ATTENTION_H
