//===- float16.h - floats of 16 bits with 11 of precision -------*- C++ -*-===//
#ifndef FFRT_FLOAT16_H
#define FFRT_FLOAT16_H

#include "ffrt/function.h"

#include <cstdint>
#include <cstring>

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
    // The bits as those of an f32 whose exponent is too small by 112; those of
    // numbers below 2^-14 count in steps of 2^-24.
    const uint32_t sign = uint32_t(bits & 0x8000) << 16,
                   rest = uint32_t(bits & 0x7fff) << 13;
    if (rest >= 0x0f800000)
      return float_of(sign | 0x70000000 | rest);
    if (rest >= 0x00800000)
      return float_of(sign | (rest + 0x38000000));
    const float small = float(bits & 0x7fff) * 0x1p-24f;
    return sign ? -small : small;
#endif
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
    uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    const uint32_t sign = word >> 16 & 0x8000, size = word & 0x7fffffff;
    if (size > 0x7f800000)
      return uint16_t(sign | 0x7e00);
    if (size >= 0x477ff000) // 65520
      return uint16_t(sign | 0x7c00);
    if (size >= 0x38800000) { // 2^-14
      const uint32_t rounded = size + 0xfff + (size >> 13 & 1) - 0x38000000;
      return uint16_t(sign | rounded >> 13);
    }
    // The last bits of 0.5 + x are steps of 2^-24, and it is rounded to them.
    const float sum = float_of(size) + 0.5f;
    std::memcpy(&word, &sum, sizeof word);
    return uint16_t(sign | (word - 0x3f000000));
#endif
  }
  FFRT_FUNCTION static float float_of(uint32_t word) {
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }

  uint16_t bits;
};

} // namespace ffrt

#endif // FFRT_FLOAT16_H
