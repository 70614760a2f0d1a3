//===- float16.h - floats of 16 bits with 11 of precision -------*- C++ -*-===//
#ifndef FFRT_FLOAT16_H
#define FFRT_FLOAT16_H

#include "ffrt/same_bits.h"

#include <cstdint>

namespace ffrt {

/// binary16 of IEEE 754: 5 bits of exponent, so that 65504 is the most, and 11
/// bits of precision down to 2^-14. A type for memory; computation is in f32.
class Float16 {
public:
  Float16() = default;
  /// To the nearest, ties to even; infinite from 65520 on; NaN stays NaN.
  FFRT_FUNCTION explicit Float16(float value) : bits(bits_of(value)) {}
  FFRT_FUNCTION operator float() const {
#ifdef __CUDA_ARCH__
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    return widened<float>(uint32_t(bits));
#endif
  }

  /// The conversions of numbers as of vectors, for hosts: F is float or a
  /// vector of them, W has words of 32 bits in their place, whose lower halves
  /// are ours.
  template <class W, class F> FFRT_FUNCTION static W rounded(F value) {
    const W word = same_bits<W>(value), size = word & 0x7fffffffu;
    const W normal = (size + 0xfffu + (size >> 13 & 1u) - 0x38000000u) >> 13;
    // The last bits of 0.5 + x are steps of 2^-24, and it is rounded to them.
    const W small = same_bits<W>(same_bits<F>(size) + 0.5f) - 0x3f000000u;
    W rest = size >= 0x38800000u ? normal : small;     // 2^-14
    rest = size >= 0x477ff000u ? W{} + 0x7c00u : rest; // 65520
    rest = size > 0x7f800000u ? W{} + 0x7e00u : rest;  // NaN
    return (word >> 16 & 0x8000u) | rest;
  }
  template <class F, class W> FFRT_FUNCTION static F widened(W bits) {
    // The bits as those of an f32 whose exponent is too small by 112; those of
    // numbers below 2^-14 count in steps of 2^-24, as the last of 0.5 + x do.
    const W size = bits & 0x7fffu, rest = size << 13;
    const W small = same_bits<W>(same_bits<F>(size | 0x3f000000u) - 0.5f);
    const W normal = rest + 0x38000000u;
    W word = rest >= 0x00800000u ? normal : small;
    word = rest >= 0x0f800000u ? rest | 0x70000000u : word;
    return same_bits<F>(W((bits & 0x8000u) << 16 | word));
  }

  FFRT_FUNCTION static Float16 of_bits(uint16_t bits) {
    Float16 number;
    number.bits = bits;
    return number;
  }

private:
  FFRT_FUNCTION static uint16_t bits_of(float value) {
#ifdef __CUDA_ARCH__
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    return uint16_t(rounded<uint32_t>(value));
#endif
  }

  uint16_t bits;
};

} // namespace ffrt

#endif // FFRT_FLOAT16_H
