//===- attention_tensor_tile.h - scores by tensor cores ---------*- C++ -*-===//
//
// What both directions of attention share. A block of threads has kRows vectors
// (queries, or keys) in shared memory, 16 for each warp, and goes over the
// vectors that they meet kColumns at a time; the next of these are copied to
// shared memory while it computes. Scores stay in the registers in which tensor
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
      : drops(heads.g.ratio > 0.0f), of_kept(heads.of_kept) {
    if (drops)
      bits = kRowsArePositions
                 ? heads.kept_bits(n, h, t + lane() % 8, s + lane() / 8 * 4)
                 : heads.kept_bits(n, h, t + lane() % 16, s + lane() / 16 * 4);
  }
  /// Of number 2 i + c of the lane's scores; again all lanes together.
  __device__ float operator()(int i, int c) const {
    if (!drops)
      return 1.0f;
    const int row = lane() / 4 + 8 * i, column = 2 * (lane() % 4) + c,
              position = kRowsArePositions ? row : column,
              from = kRowsArePositions ? position / 4 * 8 + column
                                       : position / 4 * 16 + row;
    const bool kept = __shfl_sync(~0u, bits, from) >> position % 4 & 1;
    return kept ? of_kept : 0.0f;
  }

private:
  __device__ static int lane() { return int(threadIdx.x) % 32; }

  bool drops;
  float of_kept;
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

  /// A row of a part (tensor_core.h).
  struct __attribute__((aligned(16), may_alias)) Words {
    uint32_t at[4];
  };
  /// Its elements, and how many of it are in a vector.
  static constexpr int kOfPart = int(sizeof(Words) / sizeof(T)),
                       kParts = kWidth / kOfPart;
  static constexpr int kVectorBytes = kWidth * int(sizeof(T));
  /// Vectors in shared memory. Of each the parts lie in an order of its own,
  /// so that the same part of eight neighbours is in different banks.
  template <int kCount> struct alignas(kVectorBytes) Block {
    T at[kCount][kWidth];

    __device__ Words &part(int row, int p) {
      return *reinterpret_cast<Words *>(&at[row][(p ^ row % 8) * kOfPart]);
    }
    __device__ cuda::SharedAddress address(int row, int p) const {
      return cuda::shared_address(&at[row][(p ^ row % 8) * kOfPart]);
    }
  };
  /// From the address of part p of a row to that of part p ^ q, and to that of
  /// the same part eight rows on.
  static constexpr cuda::SharedAddress part_step(int q) {
    return cuda::SharedAddress(q * int(sizeof(Words)));
  }
  static constexpr cuda::SharedAddress kEightRows = 8 * kVectorBytes;
  static_assert(kParts % 8 == 0, "an order of eight parts");
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

  /// Begins to copy vectors to a block, with zeros beyond those that there are.
  /// land() and a barrier are to follow.
  template <int kCount>
  __device__ static void begin(Block<kCount> &to, const Vectors<T> &from) {
    const auto first = reinterpret_cast<uintptr_t>(from.at);
    // Is every part in memory where a copy may begin, and whole?
    const bool aligned =
        (first | uintptr_t(from.apart) * sizeof(T)) % cuda::kAsyncBytes == 0 &&
        from.width % kOfPart == 0;
    if (!aligned) {
      FFRT_UNROLL_BY(1)
      for (int i = 0; i < kOfThread<kCount>; ++i)
        to.part(row_of(i), part_of(i)) =
            words_of(from, row_of(i), part_of(i) * kOfPart);
      return;
    }
    FFRT_UNROLL
    for (int i = 0; i < kOfThread<kCount>; ++i) {
      const int row = row_of(i), column = part_of(i) * kOfPart;
      cuda::copy_async(to.address(row, part_of(i)),
                       from.at + row * from.apart + column,
                       row < from.count && column < from.width);
    }
  }

  /// Waits for this thread's copies, and makes those to `blocks` what tensor
  /// cores take.
  template <int... kCounts>
  __device__ static void land(Block<kCounts> &...blocks) {
    cuda::wait_for_copies();
    if constexpr (!Core::kAsStored)
      (round(blocks), ...);
  }

  /// All of a block of rows, which are there when for_blocks() calls its body.
  __device__ static void load(Rows &to, const Vectors<T> &from) {
    begin(to, from);
    // for_blocks() waits for what it has not begun, but does not round it.
    if constexpr (!Core::kAsStored)
      land(to);
  }

  /// Calls body(i, stage) for blocks of `count` vectors, with those from i on
  /// in stage `stage` of `to_a` and, if kBoth, `to_b`; the next block is copied
  /// to the other stage meanwhile. Blocks of which is_hidden(i) says so are
  /// left out. All threads of a block call it, with the same answers, when none
  /// reads the stages any more; body() may return early.
  template <bool kBoth, class Hidden, class Body>
  __device__ __forceinline__ static void
  for_blocks(int64_t count, const Vectors<T> &a, Columns (&to_a)[2],
             const Vectors<T> &b, Columns (&to_b)[2], Hidden is_hidden,
             Body body) {
    auto begin_from = [&](int64_t i, int stage) {
      while (i < count && is_hidden(i))
        i += kColumns;
      if (i < count) {
        begin(to_a[stage], a.from(i));
        if (kBoth)
          begin(to_b[stage], b.from(i));
      }
      return i;
    };
    int stage = 0;
    for (int64_t next = begin_from(0, stage); next < count; stage ^= 1) {
      if constexpr (kBoth)
        land(to_a[stage], to_b[stage]);
      else
        land(to_a[stage]);
      // This stage is there, and all warps are done with the other one.
      __syncthreads();
      const int64_t here = next;
      next = begin_from(here + kColumns, stage ^ 1);
      body(here, stage);
    }
    // For the rows, if there was no block.
    cuda::wait_for_copies();
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  template <int kCount>
  __device__ static void clear(float (&parts)[kCount][4]) {
    FFRT_UNROLL
    for (int i = 0; i < 4 * kCount; ++i)
      parts[i / 4][i % 4] = 0.0f;
  }

  /// to = products of the warp's rows and all columns.
  __device__ static void multiply(const Rows &rows, const Columns &columns,
                                  Scores &to) {
    const int lane = int(threadIdx.x) % 32;
    const auto left_at = rows.address(warp_row() + lane % 16, lane / 16),
               right_at =
                   columns.address(lane / 16 * 8 + lane % 8, lane / 8 % 2);
    clear(to);
    FFRT_UNROLL
    for (int p = 0; p < kParts; p += 2) {
      uint32_t left[4];
      cuda::load_matrices(left, left_at ^ part_step(p));
      FFRT_UNROLL
      for (int j = 0; j < kColumns / 8; j += 2) {
        uint32_t right[4];
        cuda::load_matrices(right, (right_at ^ part_step(p)) + j * kEightRows);
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
  /// Parts of a block that a thread brings, and where number i of them is.
  template <int kCount>
  static constexpr int kOfThread = kCount *kParts / kThreads;
  static_assert(kThreads % kParts == 0 && kColumns * kParts % kThreads == 0,
                "as many for each");
  __device__ static int row_of(int i) {
    return (int(threadIdx.x) + i * kThreads) / kParts;
  }
  __device__ static int part_of(int i) {
    return (int(threadIdx.x) + i * kThreads) % kParts;
  }

  template <int kCount> __device__ static void round(Block<kCount> &block) {
    FFRT_UNROLL
    for (int i = 0; i < kOfThread<kCount>; ++i) {
      FFRT_UNROLL
      for (uint32_t &word : block.part(row_of(i), part_of(i)).at)
        word = Core::word(float_of_bits(int32_t(word)));
    }
  }
  __device__ static Words words_of(const Vectors<T> &from, int row,
                                   int column) {
    Words words;
    FFRT_UNROLL
    for (int e = 0; e < 4; ++e)
      if constexpr (sizeof(T) == 4)
        words.at[e] = Core::word(from(row, column + e));
      else
        words.at[e] = Core::word(from(row, column + 2 * e),
                                 from(row, column + 2 * e + 1));
    return words;
  }

  /// Scores of neighbouring columns are a word of the left matrix, and what it
  /// rounds away is one of a second: only the operands of attention are of low
  /// precision.
  __device__ static void add_pairs(const Scores &scores, const Columns &columns,
                                   Sums &sums) {
    const int lane = int(threadIdx.x) % 32;
    const auto right_at = columns.address(lane % 16, lane / 16);
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
        cuda::load_transposed(right,
                              (right_at ^ part_step(e)) + j * kEightRows);
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
    const auto number = cuda::SharedAddress(lane / 4 % 4 * int(sizeof(T))),
               even = columns.address(2 * (lane % 4), lane / 16) + number,
               odd = columns.address(2 * (lane % 4) + 1, lane / 16) + number;
    FFRT_UNROLL
    for (int j = 0; j < kColumns / 8; ++j) {
      const uint32_t left[] = {
          Core::word(scores[j][0]), Core::word(scores[j][2]),
          Core::word(scores[j][1]), Core::word(scores[j][3])};
      FFRT_UNROLL
      for (int e = 0; e < kWidth / 8; ++e)
        Core::multiply(
            sums[e], left,
            cuda::load_word((even ^ part_step(2 * e)) + j * kEightRows),
            cuda::load_word((odd ^ part_step(2 * e)) + j * kEightRows));
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
