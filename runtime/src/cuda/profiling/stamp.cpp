//===- stamp.cpp - a time of the device's stream --------------------------===//
#include "cuda/profiling/stamp.h"

#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"

#include <utility>

namespace ffrt::cuda {

Stamp::Stamp() {
  device(); // an event is of the one that was chosen before
  check(cudaEventCreateWithFlags(&event, 0), "cudaEventCreate");
}

Stamp::~Stamp() {
  if (event)
    cudaEventDestroy(event);
}

Stamp::Stamp(Stamp &&other) noexcept
    : event(std::exchange(other.event, nullptr)), replayed(other.replayed) {}

void Stamp::set() {
  const cudaStream_t stream = device().stream();
  replayed = is_captured(stream);
  // Without the flag an event of a capture is no work, but an order of it.
  if (replayed)
    check(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal),
          "cudaEventRecordWithFlags");
  else
    check(cudaEventRecord(event, stream), "cudaEventRecord");
}

double Stamp::seconds_since(const Stamp &other) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, other.event, event),
        "cudaEventElapsedTime");
  return double(milliseconds) * 1e-3;
}

} // namespace ffrt::cuda
