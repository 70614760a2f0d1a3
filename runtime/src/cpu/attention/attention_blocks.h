//===- attention_blocks.h - blocks of scores and products -------*- C++ -*-===//
//
// What both directions of attention share.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_ATTENTION_BLOCKS_H
#define FFRT_CPU_ATTENTION_BLOCKS_H

#include "common/attention/attention_geometry.h"
#include "common/elementwise/cast.h"
#include "cpu/kernels/vectors.h"
#include "ffrt/context.h"
#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <algorithm>
#include <cstdint>

namespace ffrt {

/// Rows and positions of a block of scores.
constexpr int64_t kBlockRows = 60, kBlockKeys = 256;

/// Columns of scratch are multiples of a vector.
constexpr int64_t padded(int64_t n) { return (n + 15) / 16 * 16; }

/// Memory of a thread that all kernels share, since they run one after the
/// other: a kernel for every layer would otherwise keep megabytes for each.
/// What takes parts of it is run once to count them, then for every task.
class Scratch {
public:
  /// Counts what is taken, on no memory.
  Scratch() = default;
  /// The calling thread's, in which there is room for what was reserved.
  static Scratch of_thread();
  /// Makes room for all that was taken of `counted`, on every thread. Not to be
  /// called while kernels run.
  static void reserve(const Scratch &counted);

  /// The next `floats` of it, uninitialised, from a cache line on.
  Real *take(int64_t floats) {
    Real *part = start ? start + taken : nullptr;
    taken += padded(floats);
    return part;
  }

private:
  Real *start = nullptr;
  int64_t taken = 0;
};

/// A matrix whose element (i, j) is at[i * row + j * column].
struct Strided {
  const Real *at;
  int64_t row, column;
};

/// c [m x n] += a [m x k] b [k x n]; with `fresh` c = a b. b and c are
/// row-major with rows `ldb` and `ldc` apart; n, ldb and ldc are multiples of
/// 16.
void multiply(int64_t m, int64_t n, int64_t k, Strided a, const Real *b,
              int64_t ldb, Real *c, int64_t ldc, bool fresh);

/// A tile on the CPU.
struct AttentionTile : AttentionGeometry {
  const Context &cx;

  AttentionTile(const Context &cx, const AttentionGeometry &geometry)
      : AttentionGeometry(geometry), cx(cx) {}

  /// Where vector `i` of head `h` of sample `n` is in a tensor
  /// [samples, positions, heads, width]; they are `between(width)` apart.
  int64_t vector_at(const Tensor &t, int64_t n, int64_t h, int64_t i) const {
    return head_at(n, h, t.shape[1], t.shape[3]) + i * between(t.shape[3]);
  }
  /// Vectors `first` to first + count of a head of an operand as rows of
  /// padded(width) columns, with zeros behind.
  void read_rows(const Tensor &operand, int64_t n, int64_t h, int64_t first,
                 int64_t count, Real *to) const;
  /// All of them as columns: `width` rows of padded(keys).
  void read_columns(const Tensor &operand, int64_t n, int64_t h,
                    Real *to) const;
  /// Rows of padded(width) columns to such vectors of a result, in its type.
  void write_rows(const Real *from, const Tensor &result, int64_t n, int64_t h,
                  int64_t first, int64_t count) const;

  /// Of one head: keys as columns, values as rows, a block of queries, of
  /// scores and of results.
  struct Head {
    Real *keys, *values, *queries, *scores, *sums;
  };
  Head take_head(Scratch &scratch) const;

  /// Rows of the mask from (n, h, t, s) on; null without a mask.
  const Real *masked_from(const Tensor &mask, int64_t n, int64_t h, int64_t t,
                          int64_t s) const {
    return mask.data ? mask.as<Real>() + mask_at(n, h, t, s) : nullptr;
  }
  /// Are all scores of a block replaced?
  bool all_hidden(const Real *mask, int64_t rows, int64_t keys) const;
  /// Products of queries and keys become scores, by the scale and the mask.
  void finish_scores(Real *scores, int64_t rows, int64_t keys,
                     const Real *mask) const;
  /// What the probabilities of row (n, h, t) from position `s` on are
  /// multiplied by when some are dropped: 0 or 1 / (1 - ratio).
  void draw(int64_t n, int64_t h, int64_t t, int64_t s, int64_t keys,
            Real *factors) const;

  /// Calls body(s, n) for all blocks of positions, s to s + n, when
  /// `own.scores` has theirs for `count` rows of a head from `t` on, and
  /// `own.keys` the head's keys. With `skip` without blocks that are all
  /// replaced.
  template <class Body>
  void for_scores(const Head &own, const Tensor &q, const Tensor &mask,
                  int64_t n, int64_t h, int64_t t, int64_t count, bool skip,
                  Body body) const {
    read_rows(q, n, h, t, count, own.queries);
    for (int64_t s = 0; s < keys; s += kBlockKeys) {
      const int64_t n_keys = std::min(kBlockKeys, keys - s);
      const Real *masked = masked_from(mask, n, h, t, s);
      if (skip && all_hidden(masked, count, n_keys))
        continue;
      multiply(count, padded(n_keys), width, {own.queries, padded(width), 1},
               own.keys + s, padded(keys), own.scores, kBlockKeys, true);
      finish_scores(own.scores, count, n_keys, masked);
      body(s, n_keys);
    }
  }
};

} // namespace ffrt

#endif // FFRT_CPU_ATTENTION_BLOCKS_H
