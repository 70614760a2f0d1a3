//===- reduce_block.h - sums over the threads of a block --------*- C++ -*-===//
#ifndef FFRT_CUDA_REDUCE_BLOCK_H
#define FFRT_CUDA_REDUCE_BLOCK_H

#include "ffrt/cuda/launch.h"

#include <cstring>
#include <type_traits>

namespace ffrt::cuda {

struct Sum {
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Maximum {
  template <class T> __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

/// The value of the lane whose number differs in the bits of `mask`.
template <class T> __device__ T of_other_lane(T value, int mask) {
  if constexpr (std::is_arithmetic_v<T>) {
    return __shfl_xor_sync(~0u, value, mask);
  } else {
    uint64_t words[sizeof(T) / sizeof(uint64_t)];
    static_assert(sizeof words == sizeof(T));
    std::memcpy(words, &value, sizeof words);
    FFRT_UNROLL
    for (uint64_t &word : words)
      word = __shfl_xor_sync(~0u, word, mask);
    std::memcpy(&value, words, sizeof words);
    return value;
  }
}

/// Over the lanes of a warp, all of which get the result.
template <class T, class F> __device__ T reduce_warp(T value, F combine) {
  FFRT_UNROLL
  for (int mask = 16; mask > 0; mask /= 2)
    value = combine(value, of_other_lane(value, mask));
  return value;
}

/// Over the threads of a block, which are whole warps; all get the result, the
/// same bits in every run. `neutral` changes nothing in `combine`.
template <class T, class F>
__device__ T reduce_block(T value, T neutral, F combine) {
  __shared__ T warps[32];
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32,
            count = int(blockDim.x) / 32;
  value = reduce_warp(value, combine);
  // The last use may still be under way.
  __syncthreads();
  if (lane == 0)
    warps[warp] = value;
  __syncthreads();
  value = lane < count ? warps[lane] : neutral;
  return reduce_warp(value, combine);
}

//===----------------------------------------------------------------------===//
// Rows: threads that are alike in threadIdx.y
//===----------------------------------------------------------------------===//

/// Threads of a block, at most: 128 registers for each. To be told to the
/// compiler by __launch_bounds__.
constexpr int kRowThreads = 512;

/// Threads for rows of n elements, `each` for every thread as long as a block
/// has that many: warps side by side for what a warp can do, else a block.
inline dim3 row_block(int64_t n, int each) {
  int threads = 32;
  while (threads < kRowThreads && int64_t(threads) * each < n)
    threads *= 2;
  return dim3(unsigned(threads), threads == 32 ? kThreads / 32 : 1);
}

inline unsigned blocks_for_rows(int64_t rows, dim3 block) {
  return blocks_for(rows, block.y, int(block.x * block.y));
}

__device__ inline int64_t first_row() {
  return int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
}
__device__ inline int64_t row_step() { return int64_t(gridDim.x) * blockDim.y; }

/// Over the threads of a row.
template <class T, class F>
__device__ T reduce_row(T value, T neutral, F combine) {
  return blockDim.x == 32 ? reduce_warp(value, combine)
                          : reduce_block(value, neutral, combine);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_REDUCE_BLOCK_H
