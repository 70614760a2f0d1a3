//===- check_elementwise.h - operands of element-wise kernels ---*- C++ -*-===//
#ifndef FFRT_COMMON_CHECK_ELEMENTWISE_H
#define FFRT_COMMON_CHECK_ELEMENTWISE_H

#include "ffrt/kernel.h"

namespace ffrt {

/// Throws Error unless all operands and the result are f32 with one shape and
/// one order.
void check_elementwise(Tensors in, Tensors out, int operands);

/// Throws Error unless so many operands have the type of the one result and
/// broadcast to it, aligned at the trailing dimensions.
void check_broadcast(const char *kernel, Tensors in, Tensors out,
                     std::size_t operands);

/// Throws Error unless the results are of these types, one shape and order, and
/// the operands are f32 and broadcast to them.
void check_fused(Tensors in, Tensors out, int operands,
                 std::initializer_list<DType> results);

/// Strides of x along `rank` dimensions; zero where it is broadcast.
Index broadcast_strides(const Tensor &x, int rank);

} // namespace ffrt

#endif // FFRT_COMMON_CHECK_ELEMENTWISE_H
