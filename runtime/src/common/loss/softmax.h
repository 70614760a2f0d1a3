//===- softmax.h - what softmax normalises jointly --------------*- C++ -*-===//
#ifndef FFRT_COMMON_SOFTMAX_H
#define FFRT_COMMON_SOFTMAX_H

#include "common/kernels/nest.h"

namespace ffrt {

/// The dimensions of x that are normalised or not, over x and a row-major
/// tensor that lacks the normalised ones: the elements of a set, or all sets.
Nest<2> softmax_nest(const Tensor &x, const bool *normalised, bool which);

} // namespace ffrt

#endif // FFRT_COMMON_SOFTMAX_H
