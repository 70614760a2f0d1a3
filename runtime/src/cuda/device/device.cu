//===- device.cu - the GPU of this rank -----------------------------------===//
#include "ffrt/cuda/device.h"

#include "ffrt/cuda/check.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ffrt::cuda {

void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess)
    return;
  // Whoever catches this goes on, and the next launch asks for the last error.
  cudaGetLastError();
  throw Error(std::string(what) + ": " + cudaGetErrorString(status));
}

static __global__ void set_scalars_kernel(Scalars *to, Scalars now) {
  *to = now;
}

Device::Device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  // Without a driver it fails in other ways than with none of its devices.
  if (status != cudaSuccess || count == 0)
    throw Error(std::string("expected a GPU, found none") +
                (status == cudaSuccess
                     ? ""
                     : std::string(" (") + cudaGetErrorString(status) + ")"));
  // Ranks may share a GPU.
  number = launched_local_rank() % count;
  use_in_thread();
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                               number),
        "cudaDeviceGetAttribute");
  check(cudaStreamCreateWithFlags(&queue, cudaStreamNonBlocking),
        "cudaStreamCreate");
  check(cudaMalloc(reinterpret_cast<void **>(&on_device), sizeof(Scalars)),
        "cudaMalloc");
  check(cudaHostAlloc(reinterpret_cast<void **>(&complaint), sizeof(Problem),
                      cudaHostAllocDefault),
        "cudaHostAlloc");
  *complaint = {};
  reserve(kLeastScratch);
}

Device::~Device() {
  cudaStreamSynchronize(queue);
  cudaFree(memory);
  cudaFree(on_device);
  cudaFreeHost(complaint);
  cudaStreamDestroy(queue);
}

void Device::use_in_thread() const {
  check(cudaSetDevice(number), "cudaSetDevice");
}

const Scalars *Device::scalars(const Context &cx) {
  Scalars now;
  now.seed = cx.seed;
  now.step = cx.step;
  now.micro_batch = cx.micro_batch;
  now.learning_rate = float(cx.learning_rate);
  now.clip_value = float(cx.clip_value);
  if (!has_uploaded || !(uploaded == now)) {
    uploaded = now;
    has_uploaded = true;
    // As an argument it goes to the device in order, without memory that the
    // host would have to wait for.
    launch(1, 1, set_scalars_kernel, on_device, now);
  }
  return on_device;
}

void Device::reserve(std::size_t bytes) {
  if (bytes <= size)
    return;
  finish();
  check(cudaFree(memory), "cudaFree");
  memory = nullptr;
  const std::size_t before = std::exchange(size, 0);
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status != cudaSuccess) {
    // Kernels that are there already rely on what they reserved.
    memory = nullptr;
    if (before > 0)
      check(cudaMalloc(&memory, before), "cudaMalloc");
    size = before;
  }
  check(status, "cudaMalloc");
  size = bytes;
}

void Device::finish() {
  check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  const Problem found = *complaint;
  *complaint = {};
  if (found.what)
    throw Error(std::string(found.what) + " from " +
                std::to_string(found.least) + " to " +
                std::to_string(found.limit - 1) + ", found " +
                std::to_string(found.found));
}

Device &device() {
  static Device only;
  return only;
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
         status != cudaStreamCaptureStatusNone;
}

DeviceMemory::DeviceMemory(std::size_t bytes) {
  device(); // of this GPU
  check(cudaMalloc(&data, std::max<std::size_t>(bytes, 1)), "cudaMalloc");
}

DeviceMemory::~DeviceMemory() { cudaFree(data); }

} // namespace ffrt::cuda
