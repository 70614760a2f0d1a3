//===- exponentials.h - sums of exponentials --------------------*- C++ -*-===//
//
// Of n numbers, f32, bf16 or f16, `s` apart: a constant if that is 1, so that
// loops vectorise.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_EXPONENTIALS_H
#define FFRT_CPU_EXPONENTIALS_H

#include "cpu/kernels/lanes.h"
#include "ffrt/fast_math.h"
#include "ffrt/real.h"

#include <type_traits>

namespace ffrt {

/// f(s), or f of the constant 1.
template <class F> auto with_stride(int64_t s, F &&f) {
  return s == 1 ? f(std::integral_constant<int64_t, 1>()) : f(s);
}

/// The largest, at least `top`.
template <class X, class S> Real max_of(const X *x, int64_t n, S s, Real top) {
  return max_over(n, top, [=](int64_t i) { return Real(x[i * s]); });
}

/// The sum of exp(x - top).
template <class X, class S>
double sum_of_exp(const X *x, int64_t n, S s, Real top) {
  return sum_over(n, [=](int64_t i) { return fast_exp(x[i * s] - top); });
}

/// The same; y, `t` apart, is what is summed up.
template <class X, class S, class T>
double store_exp(const X *x, int64_t n, S s, Real top, Real *y, T t) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    y[i * t] = fast_exp(x[i * s] - top);
  return sum_over(n, [=](int64_t i) { return y[i * t]; });
}

} // namespace ffrt

#endif // FFRT_CPU_EXPONENTIALS_H
