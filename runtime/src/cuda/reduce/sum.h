//===- sum.h - sums over all elements ---------------------------*- C++ -*-===//
#ifndef FFRT_CUDA_SUM_H
#define FFRT_CUDA_SUM_H

#include "cuda/kernels/reduce_block.h"
#include "ffrt/cuda/launch.h"

namespace ffrt::cuda {

/// partial[block] = the sum of f(i) over the block's share of [0, n).
template <class F>
__global__ void sum_blocks_kernel(int64_t n, F f, double *partial) {
  double sum = 0;
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step)
    sum += f(i);
  sum = reduce_block(sum, 0.0, Sum());
  if (threadIdx.x == 0)
    partial[blockIdx.x] = sum;
}

/// One block: *result = factor * the sum of `count` numbers.
__global__ void sum_up_kernel(const double *partial, int count, double factor,
                              float *result);

/// *result = factor * the sum of f(i) over [0, n), as doubles in an order that
/// depends on n alone.
template <class F>
void sum_elements(int64_t n, F f, double factor, float *result) {
  const unsigned blocks = blocks_for(n);
  double *partial = device().scratch<double>();
  launch(blocks, kThreads, sum_blocks_kernel<F>, n, f, partial);
  launch(1, kThreads, sum_up_kernel, partial, int(blocks), factor, result);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_SUM_H
