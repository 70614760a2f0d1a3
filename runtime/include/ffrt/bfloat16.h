//===- bfloat16.h - floats of 16 bits ---------------------------*- C++ -*-===//
#ifndef FFRT_BFLOAT16_H
#define FFRT_BFLOAT16_H

#include "ffrt/same_bits.h"

#include <cstdint>

namespace ffrt {

/// The upper half of an f32: its range, with 8 bits of precision. A type for
/// memory; computation is in f32.
class BFloat16 {
public:
  BFloat16() = default;
  /// To the nearest, ties to even; NaN stays NaN.
  FFRT_FUNCTION explicit BFloat16(float value)
      : bits(uint16_t(rounded<uint32_t>(value))) {}
  FFRT_FUNCTION operator float() const {
    return widened<float>(uint32_t(bits));
  }

  /// The conversions of numbers as of vectors: F is float or a vector of them,
  /// W has words of 32 bits in their place, whose lower halves are ours.
  template <class W, class F> FFRT_FUNCTION static W rounded(F value) {
    const W word = same_bits<W>(value);
    const W nearest = word + 0x7fffu + (word >> 16 & 1u);
    return (value != value ? word | 0x400000u : nearest) >> 16;
  }
  template <class F, class W> FFRT_FUNCTION static F widened(W bits) {
    return same_bits<F>(bits << 16);
  }

private:
  uint16_t bits;
};

} // namespace ffrt

#endif // FFRT_BFLOAT16_H
