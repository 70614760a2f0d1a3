//===- target.cu - memory of the GPU --------------------------------------===//
#include "common/device/target.h"

#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"

#include <algorithm>
#include <string>

namespace ffrt {

using cuda::check;

bool target_is_host() { return false; }

std::shared_ptr<void> allocate(std::size_t bytes) {
  const cudaStream_t stream = cuda::device().stream();
  void *memory = nullptr;
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  if (cudaMalloc(&memory, size) != cudaSuccess) {
    cudaGetLastError(); // it would be found again after the next kernel
    throw Error("cannot allocate " + std::to_string(bytes) +
                " bytes on the GPU");
  }
  std::shared_ptr<void> owned(memory, [](void *m) { cudaFree(m); });
  check(cudaMemsetAsync(memory, 0, size, stream), "cudaMemsetAsync");
  return owned;
}

void write_target(void *to, const void *from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice,
                        cuda::device().stream()),
        "cudaMemcpyAsync");
  cuda::device().finish();
}

void read_target(void *to, const void *from, std::size_t bytes) {
  start_reading(to, from, bytes);
  cuda::device().finish();
}

std::shared_ptr<void> host_memory(std::size_t bytes) {
  cuda::device();
  void *memory = nullptr;
  check(cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1),
                      cudaHostAllocDefault),
        "cudaHostAlloc");
  return {memory, [](void *m) { cudaFreeHost(m); }};
}

void start_reading(void *to, const void *from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost,
                        cuda::device().stream()),
        "cudaMemcpyAsync");
}

void finish_target() { cuda::device().finish(); }

} // namespace ffrt
