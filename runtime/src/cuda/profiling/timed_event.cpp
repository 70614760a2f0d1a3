//===- timed_event.cpp - a time of the device's stream --------------------===//
#include "cuda/profiling/timed_event.h"

#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"

#include <utility>

namespace ffrt::cuda {

TimedEvent::TimedEvent() {
  device(); // an event is of the one that was chosen before
  check(cudaEventCreateWithFlags(&event, 0), "cudaEventCreate");
}

TimedEvent::~TimedEvent() {
  if (event)
    cudaEventDestroy(event);
}

TimedEvent::TimedEvent(TimedEvent &&other) noexcept
    : event(std::exchange(other.event, nullptr)), replayed(other.replayed) {}

void TimedEvent::record() {
  const cudaStream_t stream = device().stream();
  replayed = is_captured(stream);
  // Without the flag an event of a capture is no work, but an order of it.
  if (replayed)
    check(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal),
          "cudaEventRecordWithFlags");
  else
    check(cudaEventRecord(event, stream), "cudaEventRecord");
}

double TimedEvent::seconds_since(const TimedEvent &other) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, other.event, event),
        "cudaEventElapsedTime");
  return double(milliseconds) * 1e-3;
}

} // namespace ffrt::cuda
