//===- normalize_sums.h - two sums of many elements -------------*- C++ -*-===//
#ifndef FFRT_CPU_NORMALIZE_SUMS_H
#define FFRT_CPU_NORMALIZE_SUMS_H

#include "cpu/kernels/widened.h"
#include "ffrt/real.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ffrt::sets {

struct Pair {
  Real a, b;
};
struct Sums {
  double a = 0, b = 0;
};

/// sum + d * d, rounded once where processors do that: compilers decide it loop
/// by loop, and sums of bf16 would differ from those of the same numbers as
/// f32.
inline Real add_square(Real sum, Real d) {
#ifdef __FMA__
  return std::fma(d, d, sum);
#else
  return sum + d * d;
#endif
}

/// Calls add(i, a, b) for i of [0, n), which adds to two sums in single
/// precision; a block at a time these are added to `to`.
template <class Add> void add_up(int64_t n, Sums &to, Add add) {
  constexpr int64_t kLanes = 16;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    Real a[kLanes] = {}, b[kLanes] = {};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes)
#pragma GCC ivdep
      for (int64_t k = 0; k < kLanes; ++k)
        add(i + k, a[k], b[k]);
    for (; i < end; ++i)
      add(i, a[i % kLanes], b[i % kLanes]);
    for (int64_t k = 0; k < kLanes; ++k) {
      to.a += a[k];
      to.b += b[k];
    }
  }
}

} // namespace ffrt::sets

#endif // FFRT_CPU_NORMALIZE_SUMS_H
