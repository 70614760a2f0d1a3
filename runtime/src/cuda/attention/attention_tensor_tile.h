//===- attention_tensor_tile.h - scores by tensor cores ---------*- C++ -*-===//
//
// What both directions of attention share. A block of threads has kRows vectors
// (queries, or keys) in shared memory, 16 for each warp, and goes over the
// vectors that they meet kColumns at a time; the next of these are fetched into
// registers while it computes. Scores stay in the registers in which tensor
// cores leave them, which are those that the next product takes them from (Dao,
// 2023). Sums are f32.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_ATTENTION_TENSOR_TILE_H
#define FFRT_CUDA_ATTENTION_TENSOR_TILE_H

#include "cuda/attention/attention_mask.h"
#include "cuda/attention/attention_tile.h"
#include "cuda/kernels/tensor_core.h"
#include "ffrt/fast_math.h"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace ffrt::attention {

/// What dropout does to the scores of a warp, 16 rows by 8 columns as tensor
/// cores leave them. Four neighbouring positions mostly have one draw
/// (philox.h): each lane draws for four scores, and lanes tell each other.
template <bool kRowsArePositions> class WarpDropout {
public:
  /// From row t and position s on. All lanes of a warp call it together.
  __device__ WarpDropout(const AttentionHeads &heads, int64_t n, int64_t h,
                         int64_t t, int64_t s)
      : ratio(heads.g.ratio) {
    if (ratio > 0.0f)
      bits = kRowsArePositions
                 ? heads.kept_bits(n, h, t + lane() % 8, s + lane() / 8 * 4)
                 : heads.kept_bits(n, h, t + lane() % 16, s + lane() / 16 * 4);
  }
  /// Of number 2 i + c of the lane's scores; again all lanes together.
  __device__ float operator()(int i, int c) const {
    if (ratio == 0.0f)
      return 1.0f;
    const int row = lane() / 4 + 8 * i, column = 2 * (lane() % 4) + c,
              position = kRowsArePositions ? row : column,
              from = kRowsArePositions ? position / 4 * 8 + column
                                       : position / 4 * 16 + row;
    const bool kept = __shfl_sync(~0u, bits, from) >> position % 4 & 1;
    return kept ? 1.0f / (1.0f - ratio) : 0.0f;
  }

private:
  __device__ static int lane() { return int(threadIdx.x) % 32; }

  float ratio;
  uint32_t bits = 0;
};

/// For heads of up to kWidth, in a format of tensor cores.
template <class Format, int kWidth, int kRowsOfBlock> struct TensorTile {
  using Core = cuda::TensorCore<Format>;
  using T = typename Core::Element;
  static constexpr int kRows = kRowsOfBlock,
                       kColumns = 4096 / int(sizeof(T)) / kWidth;
  static constexpr int kThreads = kRows / 16 * 32;
  /// Blocks that a multiprocessor is to run at once, by the registers that they
  /// take.
  static constexpr int kBlocks = kThreads > 128 ? 2 : 3;
  /// A thread has two rows.
  static constexpr int kOwnRows = 2;

  /// Elements of a row of a part (tensor_core.h).
  static constexpr int kOfPart = 16 / int(sizeof(T));
  /// Vectors in shared memory, so far apart that eight are in different banks.
  template <int kCount> struct alignas(16) Block {
    T at[kCount][kWidth + kOfPart];
  };
  using Rows = Block<kRows>;
  using Columns = Block<kColumns>;

  /// Of a thread, by 16 rows and 8 columns as tensor cores leave them: number i
  /// of columns 8 j to 8 j + 7 is in own_row(i / 2) and own_column(j, i).
  using Scores = float[kColumns / 8][4];
  using Sums = float[kWidth / 8][4];
  __device__ static int own_row(int i) {
    return int(threadIdx.x) / 32 * 16 + int(threadIdx.x) % 32 / 4 + 8 * i;
  }
  __device__ static int own_column(int j, int i) {
    return 8 * j + 2 * (int(threadIdx.x) % 4) + i % 2;
  }
  /// The first of the warp's rows.
  __device__ static int warp_row() { return int(threadIdx.x) / 32 * 16; }

  /// Over the threads of a row.
  template <class F>
  __device__ static float reduce_row(float value, F combine) {
    for (int mask = 1; mask <= 2; mask *= 2)
      value = combine(value, __shfl_xor_sync(~0u, value, mask));
    return value;
  }

  //===--------------------------------------------------------------------===//
  // Vectors from memory
  //===--------------------------------------------------------------------===//

  /// A row of a part, read and written at once where it begins at a multiple of
  /// so many bytes.
  struct __attribute__((aligned(16), may_alias)) Words {
    uint32_t at[4];
  };
  /// Of them in a vector.
  static constexpr int kWords = kWidth / kOfPart;

  /// Do those of the vectors in memory begin so?
  __device__ static bool is_aligned(const Vectors<T> &from) {
    const auto first = reinterpret_cast<uintptr_t>(from.at);
    return (first | uintptr_t(from.apart) * sizeof(T)) % sizeof(Words) == 0 &&
           from.width % kOfPart == 0;
  }
  __device__ static Words words_of(const Vectors<T> &from, bool aligned,
                                   int64_t i, int column) {
    const bool whole = aligned && i < from.count && column < from.width;
    Words words;
    if (whole)
      words =
          *reinterpret_cast<const Words *>(from.at + i * from.apart + column);
    FFRT_UNROLL
    for (int e = 0; e < 4; ++e)
      if constexpr (sizeof(T) == 4)
        words.at[e] = Core::word(whole ? float_of_bits(int32_t(words.at[e]))
                                       : from(i, column + e));
      else if (!whole)
        words.at[e] =
            Core::word(from(i, column + 2 * e), from(i, column + 2 * e + 1));
    return words;
  }

  /// Number `k` of a block.
  template <class Block>
  __device__ static Words &words_in(Block &block, int k) {
    return *reinterpret_cast<Words *>(
        &block.at[k / kWords][k % kWords * kOfPart]);
  }

  /// All vectors of a block, with zeros beyond those that there are.
  __device__ static void load(Rows &to, const Vectors<T> &from) {
    const bool aligned = is_aligned(from);
    for (int k = int(threadIdx.x); k < kRows * kWords; k += kThreads)
      words_in(to, k) =
          words_of(from, aligned, k / kWords, k % kWords * kOfPart);
  }

  /// Of a block of columns what a thread fetches.
  struct Fetched {
    static constexpr int kCount = kColumns * kWords / kThreads;
    static_assert(kCount * kThreads == kColumns * kWords, "as much for each");
    Words words[kCount];

    __device__ void fetch(const Vectors<T> &from) {
      const bool aligned = is_aligned(from);
      FFRT_UNROLL
      for (int i = 0; i < kCount; ++i) {
        const int k = int(threadIdx.x) + i * kThreads;
        words[i] = words_of(from, aligned, k / kWords, k % kWords * kOfPart);
      }
    }
    __device__ void store(Columns &to) const {
      FFRT_UNROLL
      for (int i = 0; i < kCount; ++i)
        words_in(to, int(threadIdx.x) + i * kThreads) = words[i];
    }
  };

  /// Calls body(i) for blocks of `count` vectors, with those from i on in
  /// `to_a` and, if kBoth, `to_b`; the next block is fetched meanwhile. Blocks
  /// of which is_hidden(i) says so are left out. All threads of a block call
  /// it, with the same answers; body() may return early.
  template <bool kBoth, class Hidden, class Body>
  __device__ __forceinline__ static void
  for_blocks(int64_t count, const Vectors<T> &a, Columns &to_a,
             const Vectors<T> &b, Columns &to_b, Hidden is_hidden, Body body) {
    Fetched next_a, next_b;
    auto fetch_from = [&](int64_t i) {
      while (i < count && is_hidden(i))
        i += kColumns;
      if (i < count) {
        next_a.fetch(a.from(i));
        if (kBoth)
          next_b.fetch(b.from(i));
      }
      return i;
    };
    for (int64_t next = fetch_from(0); next < count;) {
      // All warps are done with the block before.
      __syncthreads();
      next_a.store(to_a);
      if (kBoth)
        next_b.store(to_b);
      __syncthreads();
      const int64_t here = next;
      next = fetch_from(here + kColumns);
      body(here);
    }
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  template <int kParts>
  __device__ static void clear(float (&parts)[kParts][4]) {
    FFRT_UNROLL
    for (int i = 0; i < 4 * kParts; ++i)
      parts[i / 4][i % 4] = 0.0f;
  }

  /// to = products of the warp's rows and all columns.
  __device__ static void multiply(const Rows &rows, const Columns &columns,
                                  Scores &to) {
    const int lane = int(threadIdx.x) % 32;
    clear(to);
    FFRT_UNROLL
    for (int d = 0; d < kWidth; d += 2 * kOfPart) {
      uint32_t left[4];
      cuda::load_matrices(
          left, &rows.at[warp_row() + lane % 16][d + lane / 16 * kOfPart]);
      FFRT_UNROLL
      for (int j = 0; j < kColumns / 8; j += 2) {
        uint32_t right[4];
        cuda::load_matrices(right, &columns.at[8 * j + lane / 16 * 8 + lane % 8]
                                              [d + lane / 8 % 2 * kOfPart]);
        Core::multiply(to[j], left, right[0], right[1]);
        Core::multiply(to[j + 1], left, right[2], right[3]);
      }
    }
  }

  /// sums += products of the scores and the vectors of their columns.
  __device__ static void add(const Scores &scores, const Columns &columns,
                             Sums &sums) {
    if constexpr (sizeof(T) == 2)
      add_pairs(scores, columns, sums);
    else
      add_words(scores, columns, sums);
  }

  /// The sums, times a factor for each of a thread's rows, to vectors of a
  /// tensor.
  template <class To>
  __device__ static void write(const Sums &sums,
                               const float (&factor)[kOwnRows],
                               const Vectors<To> &to, To *tensor) {
    To *data = tensor + (to.at - tensor);
    FFRT_UNROLL
    for (int i = 0; i < kWidth / 2; ++i) {
      const int row = own_row(i % 4 / 2), column = own_column(i / 4, i % 4);
      if (row < to.count && column < to.width)
        data[row * to.apart + column] =
            To(sums[i / 4][i % 4] * factor[i % 4 / 2]);
    }
  }

private:
  /// Scores of neighbouring columns are a word of the left matrix, and what it
  /// rounds away is one of a second: only the operands of attention are of low
  /// precision.
  __device__ static void add_pairs(const Scores &scores, const Columns &columns,
                                   Sums &sums) {
    const int lane = int(threadIdx.x) % 32;
    FFRT_UNROLL
    for (int j = 0; j < kColumns / 8; j += 2) {
      uint32_t left[4], rest[4];
      FFRT_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float *pair = &scores[j + i / 2][i % 2 * 2];
        left[i] = Core::word(pair[0], pair[1]);
        rest[i] = Core::rest(left[i], pair[0], pair[1]);
      }
      FFRT_UNROLL
      for (int e = 0; e < kWidth / 8; e += 2) {
        uint32_t right[4];
        cuda::load_transposed(
            right, &columns.at[8 * j + lane % 16][8 * e + lane / 16 * 8]);
        Core::multiply(sums[e], left, right[0], right[1]);
        Core::multiply(sums[e + 1], left, right[2], right[3]);
        Core::multiply(sums[e], rest, right[0], right[1]);
        Core::multiply(sums[e + 1], rest, right[2], right[3]);
      }
    }
  }

  /// Of eight columns, those with even numbers come first in the left matrix,
  /// then the others: so they are where they are needed.
  __device__ static void add_words(const Scores &scores, const Columns &columns,
                                   Sums &sums) {
    const int lane = int(threadIdx.x) % 32;
    FFRT_UNROLL
    for (int j = 0; j < kColumns / 8; ++j) {
      const uint32_t left[] = {
          Core::word(scores[j][0]), Core::word(scores[j][2]),
          Core::word(scores[j][1]), Core::word(scores[j][3])};
      const int first = 8 * j + 2 * (lane % 4);
      FFRT_UNROLL
      for (int e = 0; e < kWidth / 8; ++e) {
        const int column = 8 * e + lane / 4;
        Core::multiply(sums[e], left,
                       uint32_t(bits_of_float(columns.at[first][column])),
                       uint32_t(bits_of_float(columns.at[first + 1][column])));
      }
    }
  }
};

/// What a block of threads works on: a part of the rows, or of the positions,
/// of a head.
struct TensorTask {
  int64_t n, h, first;

  FFRT_FUNCTION static int64_t count(const AttentionGeometry &g,
                                     int64_t positions, int rows) {
    return g.samples * g.heads * ((positions + rows - 1) / rows);
  }
  __device__ TensorTask(const AttentionGeometry &g, int64_t positions, int rows,
                        int64_t number) {
    const int64_t blocks = (positions + rows - 1) / rows;
    first = number % blocks * rows;
    h = number / blocks % g.heads;
    n = number / blocks / g.heads;
  }
};

} // namespace ffrt::attention

#endif // FFRT_CUDA_ATTENTION_TENSOR_TILE_H
