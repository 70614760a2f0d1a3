//===- cuda_runtime.h - the part of CUDA that kernels use, on a CPU -------===//
//
// Stands in for CUDA's header of this name where the runtime for GPUs is
// compiled by a host compiler, for tests on machines without a GPU. Kernels are
// the same text; blocks run one after the other, and the threads of a block as
// fibers that change at barriers and where a warp exchanges values. Work is
// done when a call returns, unless it is captured, or emulated_streams.h says
// otherwise.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_EMULATED_CUDA_RUNTIME_H
#define FFRT_EMULATED_CUDA_RUNTIME_H

#include "emulated_block.h"
#include "emulated_streams.h"
#include "emulated_tensor_core.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
// Blocks do not run at the same time.
#define __shared__ static

//===----------------------------------------------------------------------===//
// Numbers of a thread
//===----------------------------------------------------------------------===//

#define threadIdx (ffrt::emulated::current().thread)
#define blockIdx (ffrt::emulated::current().block)
#define blockDim (ffrt::emulated::current().block_extent)
#define gridDim (ffrt::emulated::current().grid_extent)
constexpr int warpSize = ffrt::emulated::kWarp;

//===----------------------------------------------------------------------===//
// What threads do together
//===----------------------------------------------------------------------===//

inline void __syncthreads() { ffrt::emulated::sync_block(); }
inline void __syncwarp(unsigned = ~0u) { ffrt::emulated::sync_warp(); }
inline void __cluster_barrier_arrive() { ffrt::emulated::arrive_at_cluster(); }
inline void __cluster_barrier_wait() { ffrt::emulated::sync_cluster(); }
inline unsigned __clusterRelativeBlockRank() {
  return ffrt::emulated::current().rank;
}
inline void *__cluster_map_shared_rank(const void *own, unsigned rank) {
  return ffrt::emulated::added_memory_of(rank, own);
}
inline void __threadfence() {}
inline void __threadfence_system() {}

template <class T> T __shfl_xor_sync(unsigned, T value, int lane_mask) {
  return ffrt::emulated::exchange(value,
                                  ffrt::emulated::current().lane ^ lane_mask);
}
template <class T> T __shfl_up_sync(unsigned, T value, int delta) {
  return ffrt::emulated::exchange(value,
                                  ffrt::emulated::current().lane - delta);
}
template <class T> T __shfl_down_sync(unsigned, T value, int delta) {
  return ffrt::emulated::exchange(value,
                                  ffrt::emulated::current().lane + delta);
}
template <class T> T __shfl_sync(unsigned, T value, int lane) {
  return ffrt::emulated::exchange(value, lane);
}

inline int __any_sync(unsigned, int answer) {
  for (int mask = warpSize / 2; mask > 0; mask /= 2)
    answer |= __shfl_xor_sync(~0u, answer, mask);
  return answer;
}

/// Threads change at barriers only, so that everything between is atomic.
template <class T, class V> T atomicAdd(T *at, V value) {
  const T old = ffrt::emulated::races::read(at);
  ffrt::emulated::races::write(at, T(old + value));
  return old;
}
template <class T, class V> T atomicMax(T *at, V value) {
  const T old = ffrt::emulated::races::read(at);
  ffrt::emulated::races::write(at, old < T(value) ? T(value) : old);
  return old;
}
template <class T, class V> T atomicMin(T *at, V value) {
  const T old = ffrt::emulated::races::read(at);
  ffrt::emulated::races::write(at, T(value) < old ? T(value) : old);
  return old;
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNotReady = 600,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorCapturedEvent = 907
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2,
                   cudaHostAllocDefault = 0, cudaEventRecordExternal = 1;

const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaGetDeviceCount(int *count);
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
};
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
inline cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int *version) {
  *version = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int device);
cudaError_t cudaMalloc(void **memory, std::size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaHostAlloc(void **memory, std::size_t bytes, unsigned);
cudaError_t cudaFreeHost(void *memory);
/// Memory and streams of a thread that has not chosen a device would be those
/// of the first one: there are none.
cudaError_t cudaSetDevice(int device);
/// As in CUDA, that of a call which failed some time before.
cudaError_t cudaGetLastError();
cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes,
                            cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph);
inline cudaError_t cudaStreamIsCapturing(cudaStream_t,
                                         cudaStreamCaptureStatus *status) {
  *status = ffrt::emulated::is_capturing() ? cudaStreamCaptureStatusActive
                                           : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return cudaGraphDestroy(exec);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
/// Of a capture, which sets the event's time when it is replayed.
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned flags);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
/// Every piece of work takes a millisecond.
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin,
                                 cudaEvent_t end);
cudaError_t cudaEventQuery(cudaEvent_t event);

#endif // FFRT_EMULATED_CUDA_RUNTIME_H
