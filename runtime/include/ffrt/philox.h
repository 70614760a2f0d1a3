//===- philox.h - counter-based random numbers ------------------*- C++ -*-===//
//
// Philox4x32-10 (Salmon et al., SC 2011). All random values of a program are
// functions of (seed, name, step, global element index), so that they do not
// depend on the partition:
//
//   key     = seed xor hash_name(name)
//   counter = (element / 4) in words 0-1, step in words 2-3, low word first
//   word    = element mod 4
//
// Elements are numbered in row-major order of the global tensor.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_PHILOX_H
#define FFRT_PHILOX_H

#include "ffrt/function.h"

#include <array>
#include <cstdint>

namespace ffrt {

/// The four words of counter (low, high) under `key`.
FFRT_FUNCTION inline std::array<uint32_t, 4> philox(uint64_t key, uint64_t low,
                                                    uint64_t high) {
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  uint32_t c0 = uint32_t(low), c1 = uint32_t(low >> 32);
  uint32_t c2 = uint32_t(high), c3 = uint32_t(high >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53u) * c0;
    uint64_t p1 = uint64_t(0xCD9E8D57u) * c2;
    c0 = uint32_t(p1 >> 32) ^ c1 ^ k0;
    c1 = uint32_t(p1);
    c2 = uint32_t(p0 >> 32) ^ c3 ^ k1;
    c3 = uint32_t(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

/// The word of global element `element` at `step`.
FFRT_FUNCTION inline uint32_t philox_word(uint64_t key, uint64_t element,
                                          uint64_t step) {
  return philox(key, element / 4, step)[element % 4];
}

/// Uniform in [0, 1) with 24 bits: exact in f32.
FFRT_FUNCTION inline float unit_interval(uint32_t word) {
  return float(word >> 8) * 0x1p-24f;
}

/// Does dropout keep the element that drew `word`? It does with probability
/// 1 - ratio.
FFRT_FUNCTION inline bool is_kept(uint32_t word, float ratio) {
  return unit_interval(word) >= ratio;
}

} // namespace ffrt

#endif // FFRT_PHILOX_H
