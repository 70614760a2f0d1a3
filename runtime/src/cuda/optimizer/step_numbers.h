//===- step_numbers.h - what updates read of the step -----------*- C++ -*-===//
#ifndef FFRT_CUDA_STEP_NUMBERS_H
#define FFRT_CUDA_STEP_NUMBERS_H

#include "common/optimizer/update_rules.h"
#include "ffrt/cuda/device.h"

namespace ffrt::cuda {

/// `skipped`: so many steps have been, or null.
__device__ inline rules::StepNumbers numbers_of(const Scalars &now,
                                                const float *skipped) {
  return {double(now.step + 1) - double(rules::value_or(skipped, 0.0f)),
          now.learning_rate, now.clip_value};
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_STEP_NUMBERS_H
