//===- emulated_runtime.cpp - the device of emulated kernels --------------===//
#include "cuda_runtime.h"

#include <cstdlib>

const char *cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "out of memory" : "no error";
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) {
  *value = 1;
  return cudaSuccess;
}

/// As CUDA aligns memory.
static cudaError_t allocate(void **memory, std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) /
                                               kAlignment * kAlignment);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaMalloc(void **memory, std::size_t bytes) {
  return allocate(memory, bytes);
}

cudaError_t cudaFree(void *memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, std::size_t bytes, unsigned) {
  return allocate(memory, bytes);
}

cudaError_t cudaFreeHost(void *memory) { return cudaFree(memory); }
