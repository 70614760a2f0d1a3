//===- launch.h - starting kernels ------------------------------*- C++ -*-===//
#ifndef FFRT_CUDA_LAUNCH_H
#define FFRT_CUDA_LAUNCH_H

#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"

#include <algorithm>

/// A function object for a kernel, which captures by value.
#define FFRT_LAMBDA [=] __device__

/// Before a loop over an array that is to be in registers, and before one of
/// whose reads several are to be under way at once.
#ifdef __CUDACC__
#define FFRT_PRAGMA(text) _Pragma(#text)
#define FFRT_UNROLL _Pragma("unroll")
#define FFRT_UNROLL_BY(n) FFRT_PRAGMA(unroll n)
#else
#define FFRT_UNROLL
#define FFRT_UNROLL_BY(n)
#endif

namespace ffrt::cuda {

/// Starts `kernel` on the device's stream. Arguments are converted to what it
/// takes.
template <class... Parameters, class... Arguments>
void launch(dim3 grid, dim3 block, void (*kernel)(Parameters...),
            Arguments... arguments) {
  [[maybe_unused]] const cudaStream_t stream = device().stream();
#ifdef __CUDACC__
  kernel<<<grid, block, 0, stream>>>(Parameters(arguments)...);
  check(cudaGetLastError(), "kernel launch");
#else
  emulated::compute([=] {
    emulated::run(grid, block, [&] { kernel(Parameters(arguments)...); });
  });
#endif
}

/// True if least <= found < limit; else that is what the host will say of
/// `what`.
__device__ inline bool expect_within(Problem *problem, const char *what,
                                     int64_t found, int64_t least,
                                     int64_t limit) {
  if (found >= least && found < limit)
    return true;
  problem->found = found;
  problem->least = least;
  problem->limit = limit;
  __threadfence_system();
  problem->what = what;
  return false;
}

/// The same from 0 on.
__device__ inline bool expect_below(Problem *problem, const char *what,
                                    int64_t found, int64_t limit) {
  return expect_within(problem, what, found, 0, limit);
}

/// Threads of a block where the kernel does not care.
constexpr int kThreads = 256;

/// Threads that a multiprocessor runs at once (NVIDIA's GPUs since 2017 but for
/// those of 8.6, 8.9 and 12.0, which run 1536).
constexpr int kResident = 2048;

/// Blocks of so many threads for n items, `per_block` each, no more than keep
/// the device busy.
inline unsigned blocks_for(int64_t n, int64_t per_block = kThreads,
                           int threads = kThreads) {
  const int64_t most =
      int64_t(device().multiprocessors()) * (kResident / threads);
  return unsigned(
      std::max<int64_t>(1, std::min((n + per_block - 1) / per_block, most)));
}

template <class F> __global__ void for_elements_kernel(int64_t n, F f) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step)
    f(i);
}

/// f(i) for every i of [0, n), on the device.
template <class F> void for_elements(int64_t n, F f) {
  if (n > 0)
    launch(blocks_for(n), kThreads, for_elements_kernel<F>, n, f);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_LAUNCH_H
