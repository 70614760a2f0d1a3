//===- attention_tile.h - blocks of scores on GPUs --------------*- C++ -*-===//
//
// What both directions of attention share. A block of threads handles kSide
// rows and kSide positions at a time; a thread has kOwn x kOwn of their scores
// in registers, kLanes apart, so that kLanes neighbouring threads have a row.
// Sums of vectors are kept for kColumns columns, the others by other blocks.
//
// Functions that work on such arrays are inlined: they would be in memory else.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_ATTENTION_TILE_H
#define FFRT_CUDA_ATTENTION_TILE_H

#include "common/attention/attention_geometry.h"
#include "common/elementwise/cast.h"
#include "cuda/kernels/reduce_block.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/philox.h"

#include <array>
#include <cstdint>
#include <type_traits>

namespace ffrt::attention {

constexpr int kSide = 64;   ///< rows and positions of a block of scores
constexpr int kDepth = 32;  ///< columns of vectors that are multiplied at once
constexpr int kAtOnce = 16; ///< vectors that are added at once
constexpr int kLanes = 16;
constexpr int kOwn = kSide / kLanes;
static_assert(kLanes * kLanes == cuda::kThreads, "a square of threads");

/// Of a thread, the scores of rows own_row(i) and positions own_column(j).
using Square = float[kOwn][kOwn];
__device__ inline int own_row(int i) {
  return int(threadIdx.x) / kLanes + kLanes * i;
}
__device__ inline int own_column(int j) {
  return int(threadIdx.x) % kLanes + kLanes * j;
}

/// Over the threads of a row.
template <class F> __device__ float reduce_row(float value, F combine) {
  for (int mask = kLanes / 2; mask > 0; mask /= 2)
    value = combine(value, __shfl_xor_sync(~0u, value, mask));
  return value;
}

/// Is f(row, column) true for any of a square of `rows` x `columns`? All
/// threads of the block ask and are told the same.
template <class F>
__device__ bool any_of_square(int64_t rows, int64_t columns, F f) {
  int found = 0;
  for (int i = 0; i < kOwn && !found; ++i)
    for (int j = 0; j < kOwn && !found; ++j)
      if (own_row(i) < rows && own_column(j) < columns)
        found = f(own_row(i), own_column(j));
  return cuda::reduce_block(found, 0, cuda::Maximum()) != 0;
}

/// Some of a head's vectors, in the operands' type or in f32.
template <class T> struct Vectors {
  const T *at;
  int64_t count, width, apart;

  __device__ Vectors from(int64_t i) const {
    return {at + i * apart, count - i, width, apart};
  }
  /// Beyond them there are zeros.
  __device__ float operator()(int64_t i, int64_t column) const {
    return i < count && column < width ? float(at[i * apart + column]) : 0.0f;
  }
};

/// What kernels know of a tile.
struct AttentionHeads {
  AttentionGeometry g;
  const float *mask; ///< or null
  bool tf32;         ///< operands of f32 may be rounded
  float of_kept;     ///< what dropout multiplies by what it does not drop
  const cuda::Scalars *now;

  AttentionHeads(const Context &cx, const AttentionGeometry &geometry,
                 const Tensor &mask)
      : g(geometry), mask(mask.as<float>()), tf32(cx.tf32),
        of_kept(1.0f / (1.0f - geometry.ratio)),
        now(cuda::device().scalars(cx)) {}

  template <class T>
  __device__ Vectors<T> of(const T *x, int64_t n, int64_t h, int64_t positions,
                           int64_t width) const {
    return {x + g.head_at(n, h, positions, width), positions, width,
            g.between(width)};
  }
  __device__ bool is_replaced(int64_t n, int64_t h, int64_t t,
                              int64_t s) const {
    return g.replaces && mask[g.mask_at(n, h, t, s)] != 0.0f;
  }
  __device__ float score(float product, int64_t n, int64_t h, int64_t t,
                         int64_t s) const {
    if (!mask)
      return product * g.scale;
    const float masked = mask[g.mask_at(n, h, t, s)];
    if (g.replaces)
      return masked != 0.0f ? g.hidden : product * g.scale;
    return product * g.scale + masked;
  }
  /// What a probability is multiplied by when some are dropped.
  __device__ float kept(int64_t n, int64_t h, int64_t t, int64_t s) const {
    if (g.ratio == 0.0f)
      return 1.0f;
    const uint64_t number = uint64_t(g.number(n, h, t, s));
    return kept(draw(number), number);
  }
  /// Of positions s to s + 3, by bits: which are kept? They often have one
  /// draw.
  __device__ uint32_t kept_bits(int64_t n, int64_t h, int64_t t,
                                int64_t s) const {
    const auto number = uint64_t(g.number(n, h, t, s));
    const auto before = uint32_t(number % 4);
    uint32_t bits = kept_bits(draw(number)) >> before;
    if (before != 0)
      bits |= kept_bits(draw(number + 3)) << (4 - before);
    return bits;
  }

private:
  using Words = std::array<uint32_t, 4>; ///< of neighbouring numbers
  __device__ Words draw(uint64_t number) const {
    return philox(now->seed ^ g.key, number / 4, uint64_t(now->micro_batch));
  }
  __device__ uint32_t kept_bits(const Words &words) const {
    uint32_t bits = 0;
    FFRT_UNROLL
    for (int i = 0; i < 4; ++i)
      bits |= uint32_t(is_kept(words[i], g.ratio)) << i;
    return bits;
  }
  /// Chooses by comparisons: an array with an index is not in registers.
  __device__ float kept(const Words &words, uint64_t number) const {
    const uint64_t at = number % 4;
    const uint32_t low = at == 0 ? words[0] : words[1],
                   high = at == 2 ? words[2] : words[3];
    return is_kept(at < 2 ? low : high, g.ratio) ? of_kept : 0.0f;
  }
};

/// Operands, and where the sums go: quotients and lse, or, relative to the
/// largest scores of all tiles, the sums themselves.
template <class T> struct Attended {
  const T *q, *k, *v;
  float *most;
  float *y;
  T *rounded; ///< where y goes unless it is f32, or null
  float *lse; ///< may be null
  float *total, *sum;

  /// store(where y goes)
  template <class F>
  __device__ __forceinline__ void store_y(const F &store) const {
    if constexpr (!std::is_same_v<T, float>)
      if (rounded)
        return store(rounded);
    store(y);
  }
};

/// Where a gradient goes: f32, bf16 or f16, or, if it is null, nowhere. The
/// type is no parameter of kernels, which look at it once for many elements.
struct Gradient {
  void *data;
  DType type;

  explicit Gradient(const Tensor &t) : data(t.data), type(t.type) {}
  FFRT_FUNCTION explicit operator bool() const { return data != nullptr; }
  template <class T> __device__ T *as() const { return static_cast<T *>(data); }
};

template <class T> struct Differentiated {
  const T *q, *k, *v, *dy;
  const float *lse;
  Gradient dq, dk, dv;
  float *product; ///< of every row dy * y
};

/// The probability of a score after dropout, and the gradient of the score.
struct Slope {
  float p, ds;
};

/// What a block of threads works on: a part of the rows, or of the positions,
/// of a head, and a slice of the columns of what it adds up.
struct AttentionTask {
  int64_t n, h, first, column;

  /// Tasks for `positions` and `columns`, `per_task` columns each.
  FFRT_FUNCTION static int64_t count(const AttentionGeometry &g,
                                     int64_t positions, int64_t columns,
                                     int per_task) {
    return g.samples * g.heads * parts(positions, kSide) *
           parts(columns, per_task);
  }
  __device__ AttentionTask(const AttentionGeometry &g, int64_t positions,
                           int64_t columns, int per_task, int64_t number) {
    const int64_t slices = parts(columns, per_task),
                  blocks = parts(positions, kSide);
    column = number % slices * per_task;
    first = number / slices % blocks * kSide;
    h = number / slices / blocks % g.heads;
    n = number / slices / blocks / g.heads;
  }

private:
  FFRT_FUNCTION static int64_t parts(int64_t n, int64_t size) {
    return (n + size - 1) / size;
  }
};

/// Columns that a block of threads adds up: all of narrow heads, a slice of
/// wide ones.
constexpr int kNarrow = 64, kWide = 128;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// One column more than they hold, against conflicts of banks.
struct Operands {
  float left[kSide][kDepth + 1], right[kSide][kDepth + 1];
};

template <int kColumns> struct Addends {
  float scores[kSide][kSide + 1];
  float vectors[kAtOnce][kColumns];
};

/// to = products of the vectors `left`, as rows, and `right`, as columns. When
/// it returns, all threads of the block have done what they did before it.
template <class T>
__device__ __forceinline__ void multiply(Operands &shared,
                                         const Vectors<T> &left,
                                         const Vectors<T> &right, Square &to) {
  FFRT_UNROLL
  for (int i = 0; i < kOwn; ++i)
    for (int j = 0; j < kOwn; ++j)
      to[i][j] = 0.0f;
  for (int64_t d = 0; d < left.width; d += kDepth) {
    __syncthreads();
    for (int k = int(threadIdx.x); k < kSide * kDepth; k += cuda::kThreads) {
      const int row = k / kDepth, column = k % kDepth;
      shared.left[row][column] = left(row, d + column);
      shared.right[row][column] = right(row, d + column);
    }
    __syncthreads();
    for (int k = 0; k < kDepth; ++k) {
      float a[kOwn], b[kOwn];
      FFRT_UNROLL
      for (int i = 0; i < kOwn; ++i) {
        a[i] = shared.left[own_row(i)][k];
        b[i] = shared.right[own_column(i)][k];
      }
      FFRT_UNROLL
      for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j)
          to[i][j] += a[i] * b[j];
    }
  }
}

/// sums[i] += the products of row own_row(i) of the scores and the vectors, in
/// the columns from `column` on that are own_column().
template <class T, int kColumns>
__device__ __forceinline__ void
add_vectors(Addends<kColumns> &shared, const Vectors<T> &vectors,
            int64_t column, float (&sums)[kOwn][kColumns / kLanes]) {
  for (int s = 0; s < kSide && s < vectors.count; s += kAtOnce) {
    __syncthreads();
    for (int k = int(threadIdx.x); k < kAtOnce * kColumns; k += cuda::kThreads)
      shared.vectors[k / kColumns][k % kColumns] =
          vectors(s + k / kColumns, column + k % kColumns);
    __syncthreads();
    for (int k = 0; k < kAtOnce; ++k) {
      float a[kOwn];
      FFRT_UNROLL
      for (int i = 0; i < kOwn; ++i)
        a[i] = shared.scores[own_row(i)][s + k];
      FFRT_UNROLL
      for (int c = 0; c < kColumns / kLanes; ++c) {
        const float b = shared.vectors[k][own_column(c)];
        FFRT_UNROLL
        for (int i = 0; i < kOwn; ++i)
          sums[i][c] += a[i] * b;
      }
    }
  }
}

/// The sums to the vectors of `to` that are at the same places as those of
/// `like` in a tensor `from`.
template <int kColumns, class T, class To>
__device__ __forceinline__ void
write_vectors(const float (&sums)[kOwn][kColumns / kLanes],
              const Vectors<T> &like, const T *from, To *to, int64_t column) {
  to += like.at - from;
  FFRT_UNROLL
  for (int i = 0; i < kOwn; ++i)
    for (int c = 0; c < kColumns / kLanes; ++c)
      if (own_row(i) < like.count && column + own_column(c) < like.width)
        to[own_row(i) * like.apart + column + own_column(c)] = To(sums[i][c]);
}

template <int kColumns, class T>
__device__ __forceinline__ void
write_vectors(const float (&sums)[kOwn][kColumns / kLanes],
              const Vectors<T> &like, const T *from, const Gradient &to,
              int64_t column) {
  if (to.type == DType::bf16)
    write_vectors<kColumns>(sums, like, from, to.as<BFloat16>(), column);
  else if (to.type == DType::f16)
    write_vectors<kColumns>(sums, like, from, to.as<Float16>(), column);
  else
    write_vectors<kColumns>(sums, like, from, to.as<float>(), column);
}

} // namespace ffrt::attention

#endif // FFRT_CUDA_ATTENTION_TILE_H
