//===- clamp.h - results that are cut to bounds -----------------*- C++ -*-===//
#ifndef FFRT_COMMON_CLAMP_H
#define FFRT_COMMON_CLAMP_H

#include "common/kernels/check.h"
#include "ffrt/functors.h"
#include "ffrt/real.h"

namespace ffrt {

/// The function that an attribute `clamp` stands for: it holds no bounds, the
/// lower one, or both.
inline fn::Clip clip_of(const char *kernel, const Reals &clamp) {
  expect(kernel, clamp.size() <= 2,
         "clamp: expected up to 2 bounds, found " +
             std::to_string(clamp.size()));
  return {clamp.size() > 0 ? Real(clamp[0]) : -HUGE_VALF,
          clamp.size() > 1 ? Real(clamp[1]) : HUGE_VALF};
}

} // namespace ffrt

#endif // FFRT_COMMON_CLAMP_H
