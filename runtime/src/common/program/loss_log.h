//===- loss_log.h - the losses of steps, read when asked for ----*- C++ -*-===//
#ifndef FFRT_COMMON_LOSS_LOG_H
#define FFRT_COMMON_LOSS_LOG_H

#include "ffrt/tensor.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ffrt {

/// Keeps the losses of all micro-batches. The host does not wait for the device
/// until somebody wants to know one, or very many are on their way.
class LossLog {
public:
  /// `micro_batches` of a step, over 0. `steps`: how many are expected.
  /// `earlier`: those of the steps before.
  LossLog(int micro_batches, int64_t steps, std::vector<double> earlier = {});

  /// The loss of the next micro-batch: one element of f32 or f64, which has its
  /// value when all that was started so far is done.
  void add(const Tensor &loss);
  /// Of the steps whose micro-batches were all added, the mean over these.
  const std::vector<double> &of_steps();
  /// The first step that was added whose loss is not finite, from 1; 0: none of
  /// those that have arrived.
  int64_t first_bad() const { return bad; }

private:
  /// Takes over what is on its way.
  void arrive();

  const int micro_batches;
  std::shared_ptr<void> memory; ///< of the host, that the device writes
  std::vector<Tensor> coming;
  std::vector<double> arrived;
  double sum = 0; ///< of a step that has begun, over `micro_batches`
  int added = 0;  ///< micro-batches of that step
  int64_t bad = 0;
};

} // namespace ffrt

#endif // FFRT_COMMON_LOSS_LOG_H
