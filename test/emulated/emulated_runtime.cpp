//===- emulated_runtime.cpp - the device of emulated kernels --------------===//
#include "cuda_runtime.h"

#include <cstdlib>
#include <utility>
#include <vector>

struct EmulatedGraph {
  std::vector<std::function<void()>> work;
};

static EmulatedGraph *captured = nullptr;

const char *ffrt::emulated::shapes_file() {
  static const char *const file = std::getenv("FFRT_EMULATED_SHAPES");
  return file;
}

void ffrt::emulated::submit(std::function<void()> work) {
  if (captured)
    captured->work.push_back(std::move(work));
  else
    work();
}

void ffrt::emulated::compute(std::function<void()> work) {
  if (!shapes_file())
    submit(std::move(work));
}

bool ffrt::emulated::is_capturing() { return captured; }

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  captured = new EmulatedGraph;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  *graph = std::exchange(captured, nullptr);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long) {
  *exec = new EmulatedGraph(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
  for (const std::function<void()> &work : exec->work)
    work();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t status) {
  switch (status) {
  case cudaErrorMemoryAllocation:
    return "out of memory";
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
