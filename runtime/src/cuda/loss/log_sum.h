//===- log_sum.h - sums of exponentials -------------------------*- C++ -*-===//
#ifndef FFRT_CUDA_LOG_SUM_H
#define FFRT_CUDA_LOG_SUM_H

#include "cuda/kernels/row.h"
#include "ffrt/fast_math.h"

#include <cmath>

namespace ffrt::cuda {

/// The largest of some numbers, and the sum of exp relative to it.
struct LogSum {
  double sum;
  float top;
  float unused; ///< so that it is made of whole words

  /// Goes on with one more number.
  __device__ void add(float x) {
    if (x == -HUGE_VALF)
      return;
    const float above = x - top, e = softmax_exp(-fabsf(above));
    sum = above > 0.0f ? sum * e + 1.0 : sum + e;
    top = above > 0.0f ? x : top;
  }

  /// Goes on with a few, which is less work.
  template <int kCount> __device__ void add(const float (&x)[kCount]) {
    float most = top;
    FFRT_UNROLL
    for (float number : x)
      most = number > most ? number : most;
    if (most == -HUGE_VALF)
      return;
    float part = 0;
    FFRT_UNROLL
    for (float number : x)
      part += softmax_exp(number - most);
    sum = sum * double(softmax_exp(top - most)) + double(part);
    top = most;
  }
};

/// Of two sets of numbers.
struct JoinLogSums {
  __device__ LogSum operator()(const LogSum &a, const LogSum &b) const {
    const bool a_above = a.top > b.top;
    const float top = a_above ? a.top : b.top, low = a_above ? b.top : a.top;
    const double upper = a_above ? a.sum : b.sum,
                 lower = a_above ? b.sum : a.sum;
    return {low == -HUGE_VALF ? upper : upper + lower * softmax_exp(low - top),
            top, 0};
  }
};

/// Of a row. One that is kept is gone over twice, a longer one is read once.
template <class Load> __device__ LogSum log_sum_of(const Row<Load> &row) {
  if (row.is_kept()) {
    const float top = max_of(row);
    return {sum_of(row, [=](float x) { return softmax_exp(x - top); }), top, 0};
  }
  const LogSum none{0, -HUGE_VALF, 0};
  LogSum all = none;
  row.for_each([&](int64_t, float x) { all.add(x); });
  return reduce_row(all, none, JoinLogSums());
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_LOG_SUM_H
