//===- real.h - the numbers that programs compute with ----------*- C++ -*-===//
//
// f32, and on CPUs f64 in programs of --precision=f64, whose runtime is a build
// of its own, with FFRT_F64 (FFRT_TARGET_F64 of CMakeLists.txt). They are to
// check others: there, what libraries do elsewhere is plain loops.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_REAL_H
#define FFRT_REAL_H

#include "ffrt/tensor.h"

namespace ffrt {

#ifdef FFRT_F64
using Real = double;
constexpr DType kReal = DType::f64;
#else
using Real = float;
constexpr DType kReal = DType::f32;
#endif

/// bf16 and f16 are for the sake of speed.
constexpr bool kHasLowPrecision = kReal == DType::f32;

} // namespace ffrt

#endif // FFRT_REAL_H
