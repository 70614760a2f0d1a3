//===- stamp.h - a time of the device's stream ------------------*- C++ -*-===//
#ifndef FFRT_CUDA_STAMP_H
#define FFRT_CUDA_STAMP_H

#include <cuda_runtime.h>

namespace ffrt::cuda {

class Stamp {
public:
  Stamp();
  ~Stamp();
  Stamp(Stamp &&other) noexcept;
  Stamp &operator=(Stamp &&) = delete;

  /// Behind all that was started. In a capture it becomes part of that, and
  /// every replay sets it anew.
  void set();
  /// Whether it was set by a capture.
  bool is_replayed() const { return replayed; }
  /// Both are past.
  double seconds_since(const Stamp &other) const;

private:
  cudaEvent_t event = nullptr;
  bool replayed = false;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_STAMP_H
