//===- attention_mask.h - where a mask does something -----------*- C++ -*-===//
//
// For squares of kSquare rows and positions: does the mask change scores there,
// or hide all of them? It is found once for all heads that share the mask; the
// blocks of a causal mask, or of padding, are then left out, and only those at
// the border read it.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_ATTENTION_MASK_H
#define FFRT_CUDA_ATTENTION_MASK_H

#include "cuda/attention/attention_tile.h"

#include <cmath>
#include <cstdint>

namespace ffrt::attention {

constexpr int kSquare = 16;

/// What a mask does to a square, or to a block of squares.
enum class Masked : uint8_t { nothing, some, all };

class MaskMap {
public:
  /// In memory of bytes(), of what `heads` has. To be filled before it is read.
  MaskMap(const AttentionHeads &heads, void *memory);
  /// 0 without a mask.
  static std::size_t bytes(const AttentionGeometry &g, bool has_mask);
  /// Starts the kernel that fills it.
  void fill(const AttentionHeads &heads) const;

  __device__ Masked square(int64_t n, int64_t h, int64_t t, int64_t s) const {
    return flags ? flags[n * strides[0] + h * strides[1] +
                         t / kSquare * strides[2] + s / kSquare * strides[3]]
                 : Masked::nothing;
  }
  /// Of the rows and positions from t and s on that there are; both begin a
  /// square. All threads of a warp ask together and are told the same.
  __device__ bool hides_all(const AttentionGeometry &g, int64_t n, int64_t h,
                            int64_t t, int rows, int64_t s,
                            int positions) const {
    if (!flags)
      return false;
    const int across = (positions + kSquare - 1) / kSquare,
              squares = (rows + kSquare - 1) / kSquare * across;
    bool sees = false;
    FFRT_UNROLL_BY(1)
    for (int i = int(threadIdx.x) % warpSize; i < squares; i += warpSize) {
      const int64_t row = t + i / across * kSquare,
                    position = s + i % across * kSquare;
      sees |= row < g.rows && position < g.keys &&
              square(n, h, row, position) != Masked::all;
    }
    return !__any_sync(~0u, sees);
  }

  /// Extents and strides of the squares; those along which the mask is
  /// broadcast are one.
  int64_t extents[4], strides[4];
  Masked *flags;
};

/// The number that scores of hidden positions have.
__device__ inline float hidden_score(const AttentionGeometry &g) {
  return g.replaces ? g.hidden : -HUGE_VALF;
}

} // namespace ffrt::attention

#endif // FFRT_CUDA_ATTENTION_MASK_H
