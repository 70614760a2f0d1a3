//===- Philox.h - the runtime's random numbers, for the evaluators -*- C++ -*-//
//
// Philox4x32-10 exactly as runtime/include/ffrt/philox.h, which states the
// contract (key, counter, element numbering); the runtime includes nothing of
// the compiler and the compiler nothing of the runtime. A unit test pins both
// to the published test vectors.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_REFERENCE_PHILOX_H
#define FFC_LIB_REFERENCE_PHILOX_H

#include <array>
#include <cstdint>

namespace ffc::ff {

/// The four words of counter (low, high) under `key`.
inline std::array<uint32_t, 4> philox(uint64_t key, uint64_t low,
                                      uint64_t high) {
  std::array<uint32_t, 4> c = {
      static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
      static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53u) * c[0];
    uint64_t p1 = uint64_t(0xCD9E8D57u) * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1,
         static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

/// The word of global element `element` at `step`.
inline uint32_t philoxWord(uint64_t key, uint64_t element, uint64_t step) {
  return philox(key, element / 4, step)[element % 4];
}

/// Uniform in [0, 1) with 24 bits, as the runtime's floats.
inline float unitInterval(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

/// Does dropout keep the element that drew `word`? The threshold is a float, so
/// that masks are the runtime's bit for bit.
inline bool isKept(uint32_t word, double ratio) {
  return unitInterval(word) >= static_cast<float>(ratio);
}

} // namespace ffc::ff

#endif // FFC_LIB_REFERENCE_PHILOX_H
