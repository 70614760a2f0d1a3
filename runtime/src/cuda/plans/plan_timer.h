//===- plan_timer.h - how long work takes on the device ---------*- C++ -*-===//
#ifndef FFRT_CUDA_PLAN_TIMER_H
#define FFRT_CUDA_PLAN_TIMER_H

#include "ffrt/cuda/device.h"
#include "ffrt/kernel.h"

#include <functional>
#include <vector>

namespace ffrt::cuda {

/// Memory for what is measured. It holds small numbers: GPUs compute with zeros
/// faster.
class TimedOperands {
public:
  /// The next operand. Throws Error when there is not enough memory.
  void *add(std::size_t bytes);

private:
  std::vector<DeviceMemory> memory;
};

/// What a kernel is given, on which algorithms for it are measured.
class TimedTensors {
public:
  TimedTensors(Tensors in, Tensors out)
      : operands(in.begin(), in.end()), results(out.begin(), out.end()) {}

  const Tensor *in() const { return operands.data(); }
  const Tensor *out() const { return results.data(); }
  /// Seconds that work(in(), out()) takes on the device's stream.
  double
  seconds_of(const std::function<void(const Tensor *, const Tensor *)> &work);
  /// From the first call on, those that have data lie in memory of their own.
  /// Throws Error when there is not enough.
  void place();

private:
  std::vector<Tensor> operands, results;
  bool is_placed = false;
  TimedOperands memory;
};

/// Seconds that `work` takes on the device's stream.
double seconds_of(const std::function<void()> &work);

} // namespace ffrt::cuda

#endif // FFRT_CUDA_PLAN_TIMER_H
