//===- cluster.h - blocks that reach each other's memory --------*- C++ -*-===//
//
// A cluster is a few blocks that run at the same time, near each other: they
// wait for each other in a fraction of a microsecond, and write in each other's
// shared memory. GPUs of compute capability 9 and more have them.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_CLUSTER_H
#define FFRT_CUDA_CLUSTER_H

#include "ffrt/cuda/launch.h"
#include "ffrt/error.h"

#include <cstddef>
#include <string>

namespace ffrt::cuda {

/// Blocks of a cluster on every GPU that has them.
constexpr int kClusterBlocks = 8;

/// Shared memory that every such GPU gives to a block that asks for it.
constexpr std::size_t kMostShared = 227 << 10;

/// How many, of how many threads, each with how many bytes of shared memory,
/// which is a multiple of 16.
struct Clusters {
  unsigned clusters, blocks, threads;
  std::size_t shared;
};

#ifdef __CUDACC__
namespace detail {
/// Valid as long as `attribute` is.
inline cudaLaunchConfig_t configuration(const Clusters &c,
                                        cudaLaunchAttribute &attribute) {
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {c.blocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = c.clusters * c.blocks;
  config.blockDim = c.threads;
  config.dynamicSmemBytes = c.shared;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}
} // namespace detail
#endif

/// To be called once before `kernel` is started so. Throws Error where it
/// cannot be.
template <class... Parameters>
void expect_clusters([[maybe_unused]] const Clusters &c,
                     [[maybe_unused]] void (*kernel)(Parameters...)) {
#ifdef __CUDACC__
  int fit = 0;
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = detail::configuration(c, attribute);
  const auto function = reinterpret_cast<const void *>(kernel);
  if (cudaFuncSetAttribute(function,
                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                           int(kMostShared)) != cudaSuccess ||
      cudaOccupancyMaxActiveClusters(&fit, function, &config) != cudaSuccess ||
      fit == 0) {
    cudaGetLastError(); // it would be found again after the next kernel
    throw Error("the GPU does not run clusters of " + std::to_string(c.blocks) +
                " blocks with " + std::to_string(c.shared) +
                " bytes of shared memory");
  }
#endif
}

/// Starts `kernel` on the device's stream; see launch().
template <class... Parameters, class... Arguments>
void launch_clusters(const Clusters &c, void (*kernel)(Parameters...),
                     Arguments... arguments) {
  [[maybe_unused]] const cudaStream_t stream = device().stream();
#ifdef __CUDACC__
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = detail::configuration(c, attribute);
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...),
        "cudaLaunchKernelEx");
#else
  emulated::compute([=] {
    emulated::run_clusters(c.clusters, c.blocks, c.threads, c.shared,
                           [&] { kernel(Parameters(arguments)...); });
  });
#endif
}

//===----------------------------------------------------------------------===//
// In kernels
//===----------------------------------------------------------------------===//

/// What the launch adds to a block's shared memory.
__device__ inline float *added_floats() {
#ifdef __CUDACC__
  extern __shared__ __align__(16) float ffrt_added_floats[];
  return ffrt_added_floats;
#else
  return static_cast<float *>(emulated::added_memory());
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// Number of this block in its cluster.
__device__ inline int rank_in_cluster() {
  return int(__clusterRelativeBlockRank());
}
/// What lies in the shared memory of another block where `own` lies in this
/// one's.
template <class T> __device__ T *in_block(T *own, int rank) {
  return static_cast<T *>(__cluster_map_shared_rank(own, unsigned(rank)));
}
/// What a thread wrote before it arrives, the cluster sees after it has waited.
/// Both are for all threads.
__device__ inline void arrive_at_cluster() {
  __syncwarp();
  __cluster_barrier_arrive();
}
__device__ inline void wait_for_cluster() { __cluster_barrier_wait(); }
#else
// Never started there.
__device__ inline int rank_in_cluster() { return 0; }
template <class T> __device__ T *in_block(T *own, int) { return own; }
__device__ inline void arrive_at_cluster() {}
__device__ inline void wait_for_cluster() {}
#endif

} // namespace ffrt::cuda

#endif // FFRT_CUDA_CLUSTER_H
