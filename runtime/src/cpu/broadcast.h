//===- broadcast.h - operands that broadcast to a result --------*- C++ -*-===//
#ifndef FFRT_CPU_BROADCAST_H
#define FFRT_CPU_BROADCAST_H

#include "ffrt/kernel.h"

namespace ffrt {

/// Strides of `x` along the dimensions of a result of rank `rank`; zero where
/// x is broadcast.
Index broadcast_strides(const Tensor &x, int rank);

/// Throws Error unless there are `operands` operands of the result's type that
/// broadcast to its local shape.
void check_broadcast(const char *kernel, Tensors in, Tensors out,
                     std::size_t operands);

} // namespace ffrt

#endif // FFRT_CPU_BROADCAST_H
