//===- optimizer.h - what updates of parameters share -----------*- C++ -*-===//
#ifndef FFRT_COMMON_OPTIMIZER_H
#define FFRT_COMMON_OPTIMIZER_H

#include "ffrt/function.h"
#include "ffrt/kernel.h"
#include "ffrt/real.h"
#include "ffrt/tensor.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace ffrt {

/// Elements that are added up in one go, whatever the number of threads.
constexpr int64_t kSumBlock = 8192;

inline int64_t sum_blocks(int64_t n) { return (n + kSumBlock - 1) / kSumBlock; }

/// Throws Error naming `kernel` unless `scale` is one that updates take.
void check_update_scale(const char *kernel, const Tensor &scale);

/// Is the last result of an update w rounded?
inline bool has_rounded(Tensors in, Tensors out) {
  // Operands besides w and slots are two: g and scale, or r and norms.
  return out.size() + 1 == in.size();
}

/// Neither infinite nor NaN.
FFRT_FUNCTION inline bool is_finite(double x) { return x - x == 0; }

/// What gradients of this norm are multiplied by so that it is at most
/// `max_norm`.
FFRT_FUNCTION inline double clip_by(double norm, double max_norm) {
  const double factor = max_norm / (norm + 1e-6);
  return factor < 1.0 ? factor : 1.0;
}

/// Operands and results of LossScale.
struct ScaleOfLoss {
  Real *scale, *good, *skipped, *factor;
  int64_t interval;
  double least, max_norm, most;

  ScaleOfLoss(Tensors in, Tensors out, int64_t interval, double least,
              double max_norm, double most)
      : scale(in.begin()[0].as<Real>()), good(in.begin()[1].as<Real>()),
        skipped(in.begin()[2].as<Real>()), factor(out.begin()->as<Real>()),
        interval(interval), least(least), max_norm(max_norm), most(most) {}

  /// `sum`: of the squares of all gradients.
  FFRT_FUNCTION void decide(double sum) const {
    constexpr Real kInfinite = std::numeric_limits<Real>::infinity();
    const double now = double(*scale), norm = sqrt(sum) / now;
    const bool counts = is_finite(norm);
    const int64_t steps = counts ? int64_t(*good) + 1 : 0;
    const bool grows = steps == interval;
    const double next = counts ? (grows ? 2 * now : now) : now / 2;
    const double clip = max_norm > 0 ? clip_by(norm, max_norm) : 1.0;
    factor[0] = counts ? Real(clip / now) : kInfinite;
    *scale = Real(next < least ? least : next > most ? most : next);
    *good = grows ? 0.0f : Real(steps);
    *skipped += counts ? 0.0f : 1.0f;
    factor[1] = *skipped;
  }
};

} // namespace ffrt

#endif // FFRT_COMMON_OPTIMIZER_H
