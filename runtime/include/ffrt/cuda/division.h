//===- division.h - division by numbers that the host knows -----*- C++ -*-===//
//
// GPUs have no instruction that divides integers, and what stands for one takes
// dozens. A divisor that is known before a kernel starts becomes a factor and a
// shift (Granlund and Montgomery, PLDI 1994): with 2^shift the next power of
// two and B the bits of U,
//
//   n / divisor = (n * 2^B / divisor * 2^shift) >> (B + shift)
//               = (n * (2^B + factor) >> B) >> shift
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_DIVISION_H
#define FFRT_CUDA_DIVISION_H

#include "ffrt/function.h"

#include <cstdint>

namespace ffrt::cuda {

FFRT_FUNCTION inline uint32_t upper_product(uint32_t a, uint32_t b) {
  return uint32_t(uint64_t(a) * b >> 32);
}
FFRT_FUNCTION inline uint64_t upper_product(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  return uint64_t((unsigned __int128)(a)*b >> 64);
#endif
}

/// n / divisor for n and divisor below half of what U (uint32_t or uint64_t)
/// holds, so that a sum of two such numbers fits.
template <class U> class Division {
public:
  Division() = default;
  explicit Division(int64_t by) : by(U(by)) {
    while ((U(1) << shift) < this->by)
      ++shift;
    const unsigned __int128 above = (U(1) << shift) - this->by;
    factor = U((above << (8 * sizeof(U))) / this->by) + 1;
  }

  FFRT_FUNCTION U operator()(U n) const {
    return (upper_product(n, factor) + n) >> shift;
  }
  FFRT_FUNCTION U divisor() const { return by; }

private:
  U by = 1, factor = 1;
  int shift = 0;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_DIVISION_H
