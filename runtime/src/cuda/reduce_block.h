//===- reduce_block.h - sums over the threads of a block --------*- C++ -*-===//
#ifndef FFRT_CUDA_REDUCE_BLOCK_H
#define FFRT_CUDA_REDUCE_BLOCK_H

#include <cuda_runtime.h>

namespace ffrt::cuda {

struct Sum {
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Maximum {
  template <class T> __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

/// Over the lanes of a warp, all of which get the result.
template <class T, class F> __device__ T reduce_warp(T value, F combine) {
  for (int mask = 16; mask > 0; mask /= 2)
    value = combine(value, __shfl_xor_sync(~0u, value, mask));
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

} // namespace ffrt::cuda

#endif // FFRT_CUDA_REDUCE_BLOCK_H
