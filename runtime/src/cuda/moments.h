//===- moments.h - what updates of a step share -----------------*- C++ -*-===//
#ifndef FFRT_CUDA_MOMENTS_H
#define FFRT_CUDA_MOMENTS_H

#include "common/optimizer.h"
#include "ffrt/cuda/device.h"
#include "ffrt/kernel.h"
#include "ffrt/optimizer.h"

#include <cmath>

namespace ffrt::cuda {

/// Operand `scale` of updates: what gradients are multiplied by, or, if it is
/// not finite, that the step changes nothing.
struct Scale {
  const float *factor;  ///< null: 1
  const float *skipped; ///< how many steps were; null: none

  Scale() = default;
  explicit Scale(const Tensor &t)
      : factor(t.as<float>()),
        skipped(t.elements() == 2 ? factor + 1 : nullptr) {}
};

__device__ inline float value_or(const float *x, float missing) {
  return x ? *x : missing;
}

/// What most updates need of a step.
struct Rates {
  float rate, decay;
  /// With weight decay.
  __device__ float slope(float gradient, float w) const {
    return gradient + decay * w;
  }
};

/// The direction of an element; changes its moments.
struct Moments {
  float beta1, beta2, epsilon;
  double log1, log2; ///< of the betas

  Moments() = default;
  explicit Moments(const MomentNumbers &numbers)
      : beta1(float(numbers.beta1)), beta2(float(numbers.beta2)),
        epsilon(float(numbers.epsilon)), log1(std::log(numbers.beta1)),
        log2(std::log(numbers.beta2)) {}
  bool operator==(const Moments &o) const {
    return log1 == o.log1 && log2 == o.log2 && epsilon == o.epsilon;
  }

  struct Step : Rates {
    float first, second; ///< 1 / (1 - beta^t)
  };
  __device__ Step step(const Scalars &now, float skipped) const {
    const double t = double(now.step + 1) - double(skipped);
    return {{now.learning_rate, now.weight_decay},
            float(-1 / expm1(log1 * t)),
            float(-1 / expm1(log2 * t))};
  }
  __device__ float operator()(const Step &by, float slope, float &m,
                              float &v) const {
    m = beta1 * m + (1.0f - beta1) * slope;
    v = beta2 * v + (1.0f - beta2) * slope * slope;
    return by.first * m / (sqrtf(by.second * v) + epsilon);
  }
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_MOMENTS_H
