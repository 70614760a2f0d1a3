//===- input_buffers.cpp - inputs go to the GPU beside its kernels --------===//
//
// There are two sets of buffers, each with memory of the host and of the
// device. A batch is copied to its set's device memory on a stream of its own,
// in one transfer, and from there to the slots on the kernels' stream, which
// takes a fraction of the time: while a step runs, the next batch arrives.
//
//===----------------------------------------------------------------------===//
#include "common/device/input_buffers.h"

#include "common/device/host_tensor.h"
#include "common/device/target.h"
#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"

#include <array>

namespace ffrt {

using cuda::check;

namespace {

/// A point in a stream.
class Event {
public:
  Event() {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
          "cudaEventCreate");
  }
  ~Event() { cudaEventDestroy(event); }
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;

  void record(cudaStream_t stream) {
    check(cudaEventRecord(event, stream), "cudaEventRecord");
  }
  /// What is started in the stream from here on waits for it.
  void hold(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
  }
  void wait() const {
    check(cudaEventSynchronize(event), "cudaEventSynchronize");
  }

private:
  cudaEvent_t event = nullptr;
};

struct Set {
  std::shared_ptr<void> host_memory, device_memory;
  std::vector<Tensor> host, device;
  Event arrived; ///< in the device's memory
  Event placed;  ///< in the slots: the device's memory may be written
};

} // namespace

struct InputBuffers::Impl {
  std::vector<Tensor> slots;
  std::size_t bytes = 0; ///< of a set's memory, where all slots' copies lie
  cudaStream_t stream = nullptr;
  std::array<Set, 2> sets;
  std::size_t next = 0; ///< that the host writes

  ~Impl() {
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }

  void upload(Set &set) {
    set.placed.hold(stream);
    if (bytes > 0)
      check(cudaMemcpyAsync(set.device_memory.get(), set.host_memory.get(),
                            bytes, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
    set.arrived.record(stream);
  }

  void place(Set &set) {
    const cudaStream_t kernels = cuda::device().stream();
    set.arrived.hold(kernels);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].data)
        check(cudaMemcpyAsync(slots[i].data, set.device[i].data,
                              std::size_t(bytes_of(slots[i])),
                              cudaMemcpyDeviceToDevice, kernels),
              "cudaMemcpyAsync");
    set.placed.record(kernels);
  }
};

InputBuffers::InputBuffers(const std::vector<Tensor> &slots)
    : impl(std::make_unique<Impl>()) {
  impl->slots = slots;
  cuda::device(); // before the first stream
  check(cudaStreamCreateWithFlags(&impl->stream, cudaStreamNonBlocking),
        "cudaStreamCreate");
  // Each tensor begins where vectors of elements may be read.
  constexpr int64_t kAlignment = 256;
  std::vector<int64_t> at;
  int64_t bytes = 0;
  for (const Tensor &t : slots) {
    at.push_back(bytes);
    if (t.data)
      bytes += (bytes_of(t) + kAlignment - 1) / kAlignment * kAlignment;
  }
  impl->bytes = std::size_t(bytes);
  for (Set &set : impl->sets) {
    set.host_memory = host_memory(impl->bytes);
    set.device_memory = allocate(impl->bytes);
    set.host = set.device = slots;
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].data) {
        set.host[i].data =
            static_cast<std::byte *>(set.host_memory.get()) + at[i];
        set.device[i].data =
            static_cast<std::byte *>(set.device_memory.get()) + at[i];
      }
    set.placed.record(cuda::device().stream()); // which clears the memory
  }
}

InputBuffers::~InputBuffers() = default;
InputBuffers::InputBuffers(InputBuffers &&) noexcept = default;

const std::vector<Tensor> &InputBuffers::host() const {
  return impl->sets[impl->next].host;
}

void InputBuffers::send() {
  Set &set = impl->sets[impl->next];
  impl->upload(set);
  impl->place(set);
  impl->next = 1 - impl->next;
  impl->sets[impl->next].arrived.wait();
}

void InputBuffers::send_again() { impl->place(impl->sets[1 - impl->next]); }

} // namespace ffrt
