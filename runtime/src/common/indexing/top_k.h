//===- top_k.h - operands and order of the largest elements -----*- C++ -*-===//
#ifndef FFRT_COMMON_TOP_K_H
#define FFRT_COMMON_TOP_K_H

#include "ffrt/function.h"
#include "ffrt/kernel.h"
#include "ffrt/real.h"

namespace ffrt {

/// What TopK's constructor gets. Throws Error.
void check_top_k(Tensors in, Tensors out, int64_t axis);

/// True if element i, which is a, comes before element j, which is b.
FFRT_FUNCTION inline bool comes_before(Real a, int64_t i, Real b, int64_t j,
                                       bool largest) {
  const bool a_larger = a > b || (a != a && b == b),
             b_larger = b > a || (b != b && a == a);
  if (a_larger || b_larger)
    return largest ? a_larger : b_larger;
  return i < j;
}

} // namespace ffrt

#endif // FFRT_COMMON_TOP_K_H
