//===- bfloat16.h - floats of 16 bits ---------------------------*- C++ -*-===//
#ifndef FFRT_BFLOAT16_H
#define FFRT_BFLOAT16_H

#include "ffrt/function.h"

#include <cstdint>
#include <cstring>

namespace ffrt {

/// The upper half of an f32: its range, with 8 bits of precision. A type for
/// memory; computation is in f32.
class BFloat16 {
public:
  BFloat16() = default;
  /// To the nearest, ties to even; NaN stays NaN.
  FFRT_FUNCTION explicit BFloat16(float value) {
    uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    const uint32_t rounded = word + 0x7fff + (word >> 16 & 1);
    bits = uint16_t((value != value ? word | 0x400000 : rounded) >> 16);
  }
  FFRT_FUNCTION operator float() const {
    const uint32_t word = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }

private:
  uint16_t bits;
};

} // namespace ffrt

#endif // FFRT_BFLOAT16_H
