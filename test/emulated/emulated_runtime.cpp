//===- emulated_runtime.cpp - the device of emulated kernels --------------===//
#include "cuda_runtime.h"

#include "emulated_calls.h"
#include "emulated_memory.h"

#include <cstdlib>
#include <map>
#include <unistd.h>
#include <utility>

const char *cudaGetErrorString(cudaError_t status) {
  switch (status) {
  case cudaErrorInvalidValue:
    return "invalid argument";
  case cudaErrorMemoryAllocation:
    return "out of memory";
  case cudaErrorNotReady:
    return "device not ready";
  case cudaErrorStreamCaptureUnjoined:
    return "capturing stream has unjoined work";
  case cudaErrorStreamCaptureIsolation:
    return "dependency created on uncaptured work in another stream";
  case cudaErrorCapturedEvent:
    return "operation not permitted on an event last recorded in a capturing "
           "stream";
  case cudaErrorStreamCaptureUnsupported:
    return "operation not permitted when stream is capturing";
  default:
    return "no error";
  }
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

/// FFRT_EMULATED_GPUS=own: the device is not that of other processes.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  *properties = {};
  std::strcpy(properties->name, "emulated");
  if (std::getenv("FFRT_EMULATED_GPUS")) {
    const pid_t process = getpid();
    std::memcpy(properties->uuid.bytes, &process, sizeof process);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) {
  *value = 1;
  return cudaSuccess;
}

static cudaError_t last_error = cudaSuccess;

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}

static cudaError_t failed(cudaError_t status) { return last_error = status; }

static thread_local bool has_device = false;

cudaError_t cudaSetDevice(int) {
  has_device = true;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, std::size_t bytes) {
  ffrt::emulated::count("cudaMalloc");
  if (Calls *const calls = ffrt::emulated::calls())
    calls->allocated(bytes);
  if (!has_device)
    return failed(cudaErrorInvalidValue);
  *memory = ffrt::emulated::allocate(bytes);
  return *memory ? cudaSuccess : failed(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *memory) {
  ffrt::emulated::count("cudaFree");
  ffrt::emulated::finish_all();
  ffrt::emulated::free(memory);
  return cudaSuccess;
}

/// Memory of the host that the device reaches by itself: end by begin.
static std::map<const char *, const char *> pinned;

static bool is_pinned(const void *memory) {
  const char *const at = static_cast<const char *>(memory);
  auto after = pinned.upper_bound(at);
  return after != pinned.begin() && at < std::prev(after)->second;
}

cudaError_t cudaHostAlloc(void **memory, std::size_t bytes, unsigned) {
  ffrt::emulated::count("cudaHostAlloc");
  if (!has_device)
    return failed(cudaErrorInvalidValue);
  *memory = std::malloc(bytes);
  if (!*memory)
    return failed(cudaErrorMemoryAllocation);
  const char *const begin = static_cast<const char *>(*memory);
  pinned[begin] = begin + bytes;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory) {
  ffrt::emulated::finish_all();
  pinned.erase(static_cast<const char *>(memory));
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  const void *const host = kind == cudaMemcpyHostToDevice   ? from
                           : kind == cudaMemcpyDeviceToHost ? to
                                                            : nullptr;
  const bool staged = host && !is_pinned(host);
  if (staged && ffrt::emulated::is_capturing())
    return cudaErrorStreamCaptureUnsupported;
  ffrt::emulated::submit(stream, [=] { std::memmove(to, from, bytes); });
  // The driver copies other memory of the host before the call returns.
  return staged ? cudaStreamSynchronize(stream) : cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes,
                            cudaStream_t stream) {
  ffrt::emulated::submit(stream, [=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}
