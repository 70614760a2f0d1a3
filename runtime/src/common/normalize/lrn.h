//===- lrn.h - operands of local response normalisation ---------*- C++ -*-===//
#ifndef FFRT_COMMON_LRN_H
#define FFRT_COMMON_LRN_H

#include "ffrt/lrn.h"

namespace ffrt {

/// What LrnBackward's constructor gets. Throws Error.
LrnWindow check_lrn_backward(Tensors in, Tensors out, double alpha, double beta,
                             double bias, int64_t size);

} // namespace ffrt

#endif // FFRT_COMMON_LRN_H
