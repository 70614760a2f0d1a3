//===- timed_event.h - a time of the device's stream ------------*- C++ -*-===//
#ifndef FFRT_CUDA_TIMED_EVENT_H
#define FFRT_CUDA_TIMED_EVENT_H

#include <cuda_runtime.h>

namespace ffrt::cuda {

class TimedEvent {
public:
  TimedEvent();
  ~TimedEvent();
  TimedEvent(TimedEvent &&other) noexcept;
  TimedEvent &operator=(TimedEvent &&) = delete;

  /// Behind all that was started. In a capture it becomes part of that, and
  /// every replay records it anew.
  void record();
  /// Whether it was recorded by a capture.
  bool is_replayed() const { return replayed; }
  /// Both are past.
  double seconds_since(const TimedEvent &other) const;

private:
  cudaEvent_t event = nullptr;
  bool replayed = false;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_TIMED_EVENT_H
