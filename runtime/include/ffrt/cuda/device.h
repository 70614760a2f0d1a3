//===- device.h - the GPU of this rank --------------------------*- C++ -*-===//
//
// A rank is a process with one GPU. All kernels of a step go to one stream, so
// that they may share scratch memory.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_DEVICE_H
#define FFRT_CUDA_DEVICE_H

#include "ffrt/context.h"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ffrt::cuda {

/// What changes from step to step. Kernels read it in device memory, so that a
/// captured step serves for all.
struct Scalars {
  uint64_t seed = 0;
  int64_t step = 0, micro_batch = 0;
  float learning_rate = 0, clip_value = 0;
  bool operator==(const Scalars &o) const {
    return seed == o.seed && step == o.step && micro_batch == o.micro_batch &&
           learning_rate == o.learning_rate && clip_value == o.clip_value;
  }
};

/// What a kernel found in its operands, which it cannot throw.
struct Problem {
  const char *what; ///< "KERNEL: expected targets"; null: nothing
  int64_t found, least, limit;
};

/// Work that a kernel of a program has not started yet, because more of its
/// kind may follow.
class Deferred {
public:
  virtual void start() = 0;

protected:
  ~Deferred() = default;
};

class Device {
public:
  Device();
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// For another thread of the process before it asks the GPU for anything,
  /// which would be the first one of the machine.
  void use_in_thread() const;

  /// Starts what is deferred, so that everything on the stream is in the order
  /// of the program: whoever gives the stream work asks for it when he does.
  cudaStream_t stream() {
    start_deferred();
    return queue;
  }
  /// `work` starts when anything else is about to, or to be waited for; one
  /// that was deferred before starts now.
  void defer(Deferred &work) {
    start_deferred();
    waiting = &work;
  }
  bool has_deferred(const Deferred &work) const { return waiting == &work; }
  bool has_deferred() const { return waiting; }
  /// `next` starts as soon as what is deferred has started.
  void after_deferred(Deferred &next) { following = &next; }
  void forget(const Deferred &next) {
    if (following == &next)
      following = nullptr;
  }
  void start_deferred() {
    if (!waiting)
      return;
    std::exchange(waiting, nullptr)->start();
    if (following)
      std::exchange(following, nullptr)->start();
  }

  int multiprocessors() const { return processors; }

  /// In device memory, as `cx` has them now.
  const Scalars *scalars(const Context &cx);

  /// Of scratch() there is so much at least: a few numbers for every block.
  static constexpr std::size_t kLeastScratch = std::size_t(1) << 20;
  /// To be called by constructors of kernels: calls may use so much of
  /// scratch(), which holds nothing from one kernel to the next.
  void reserve(std::size_t bytes);
  template <class T> T *scratch() const { return static_cast<T *>(memory); }
  std::size_t scratch_bytes() const { return size; }

  /// For kernels, in memory that the host reads too: expect_below() and
  /// expect_within() of launch.h.
  Problem *problem() const { return complaint; }

  /// Returns when all that was launched is done. Throws Error if a kernel found
  /// a problem.
  void finish();

private:
  int number = 0; ///< among those of the machine
  cudaStream_t queue = nullptr;
  Deferred *waiting = nullptr, *following = nullptr;
  int processors = 1;
  void *memory = nullptr;
  std::size_t size = 0;
  Scalars *on_device = nullptr;
  Problem *complaint = nullptr;
  Scalars uploaded;
  bool has_uploaded = false;
};

/// This process's; opened when it is first asked for. Throws Error when there
/// is none.
Device &device();

/// Whether what the stream is given now becomes part of a graph.
bool is_captured(cudaStream_t stream);

/// Memory of the device that lives as long as this.
class DeviceMemory {
public:
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory &&other) noexcept : data(other.data) {
    other.data = nullptr;
  }
  DeviceMemory &operator=(DeviceMemory &&) = delete;
  template <class T> T *as() const { return static_cast<T *>(data); }

private:
  void *data = nullptr;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_DEVICE_H
