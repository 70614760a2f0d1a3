//===- cum_sum.cu - running sums along one dimension ----------------------===//
//
// A block for every line whose elements lie side by side, a thread for every
// other.
//
//===----------------------------------------------------------------------===//
#include "ffrt/cum_sum.h"

#include "common/kernels/lines.h"
#include "ffrt/cuda/launch.h"

namespace ffrt {

namespace {

/// How to go along a line.
struct Scan {
  Lines lines;
  bool exclusive, reverse;

  __device__ int64_t at(int64_t start, int64_t i) const {
    return start + (reverse ? lines.extent - 1 - i : i) * lines.stride;
  }
};

/// The sum over the threads of a block before this one; `all` over the block.
__device__ float sum_before(float value, float &all) {
  __shared__ float warps[32];
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32,
            count = int(blockDim.x) / 32;
  float sum = value;
  for (int delta = 1; delta < 32; delta *= 2) {
    const float other = __shfl_up_sync(~0u, sum, delta);
    if (lane >= delta)
      sum += other;
  }
  // The last use may still be under way.
  __syncthreads();
  if (lane == 31)
    warps[warp] = sum;
  __syncthreads();
  const float other = __shfl_up_sync(~0u, sum, 1);
  float before = 0;
  all = 0;
  for (int w = 0; w < count; ++w) {
    if (w == warp)
      before = all;
    all += warps[w];
  }
  return lane > 0 ? before + other : before;
}

__global__ void cum_sum_blocks_kernel(Scan scan, const float *x, float *y) {
  for (int64_t line = blockIdx.x; line < scan.lines.count; line += gridDim.x) {
    const int64_t start = scan.lines.start(line);
    float before = 0;
    for (int64_t first = 0; first < scan.lines.extent; first += blockDim.x) {
      const int64_t i = first + threadIdx.x;
      const bool exists = i < scan.lines.extent;
      const float value = exists ? x[scan.at(start, i)] : 0.0f;
      float all;
      const float sum = before + sum_before(value, all);
      if (exists)
        y[scan.at(start, i)] = scan.exclusive ? sum : sum + value;
      before += all;
    }
  }
}

void cum_sum_lines(const Scan &scan, const float *x, float *y) {
  cuda::for_elements(
      scan.lines.count, FFRT_LAMBDA(int64_t line) {
        const int64_t start = scan.lines.start(line);
        float sum = 0;
        for (int64_t i = 0; i < scan.lines.extent; ++i) {
          const int64_t at = scan.at(start, i);
          const float next = sum + x[at];
          y[at] = scan.exclusive ? sum : next;
          sum = next;
        }
      });
}

} // namespace

void CumSum::operator()(Tensors in, Tensors out) {
  const Scan scan{Lines(*in.begin(), axis), exclusive, reverse};
  const float *x = in.begin()->as<float>();
  float *y = out.begin()->as<float>();
  if (scan.lines.count == 0 || scan.lines.extent == 0)
    return;
  if (scan.lines.stride > 1)
    return cum_sum_lines(scan, x, y);
  cuda::launch(cuda::blocks_for(scan.lines.count, 1),
               scan.lines.extent <= 64 ? 32 : cuda::kThreads,
               cum_sum_blocks_kernel, scan, x, y);
}

} // namespace ffrt
