//===- lanes.h - sums and maxima that compilers vectorise -------*- C++ -*-===//
//
// In a fixed order, whatever the width of the machine's vectors.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_LANES_H
#define FFRT_CPU_LANES_H

#include "ffrt/real.h"

#include <algorithm>
#include <cstdint>

namespace ffrt {

constexpr int64_t kLanes = 16; ///< that the compiler turns into vectors

/// The largest of `top` and f(0) to f(n - 1).
template <class F> Real max_over(int64_t n, Real top, F f) {
  Real lanes[kLanes];
  std::fill_n(lanes, kLanes, top);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t k = 0; k < kLanes; ++k) {
      const Real x = f(i + k);
      lanes[k] = x > lanes[k] ? x : lanes[k];
    }
  for (; i < n; ++i)
    lanes[0] = std::max(lanes[0], f(i));
  return *std::max_element(lanes, lanes + kLanes);
}

/// The sum of f(0) to f(n - 1), in single precision a few thousand at a time.
template <class F> double sum_over(int64_t n, F f) {
  constexpr int64_t kBlock = 4096;
  double sum = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    Real lanes[kLanes] = {};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes)
#pragma GCC ivdep
      for (int64_t k = 0; k < kLanes; ++k)
        lanes[k] += f(i + k);
    for (; i < end; ++i)
      lanes[i % kLanes] += f(i);
    for (Real lane : lanes)
      sum += lane;
  }
  return sum;
}

} // namespace ffrt

#endif // FFRT_CPU_LANES_H
