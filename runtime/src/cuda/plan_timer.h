//===- plan_timer.h - how long work takes on the device ---------*- C++ -*-===//
#ifndef FFRT_CUDA_PLAN_TIMER_H
#define FFRT_CUDA_PLAN_TIMER_H

#include "ffrt/cuda/device.h"
#include "ffrt/tensor.h"

#include <functional>
#include <vector>

namespace ffrt::cuda {

/// Memory for what is measured. It holds small numbers: GPUs compute with zeros
/// faster.
class TimedOperands {
public:
  /// The next operand. Throws Error when there is not enough memory.
  void *add(std::size_t bytes);
  /// Has tensors that have data, in memory of the device, lie here instead.
  void place(std::vector<Tensor> &tensors);

private:
  std::vector<DeviceMemory> memory;
};

/// Seconds that `work` takes on the device's stream.
double seconds_of(const std::function<void()> &work);

} // namespace ffrt::cuda

#endif // FFRT_CUDA_PLAN_TIMER_H
