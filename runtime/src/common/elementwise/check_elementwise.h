//===- check_elementwise.h - operands of element-wise kernels ---*- C++ -*-===//
#ifndef FFRT_COMMON_CHECK_ELEMENTWISE_H
#define FFRT_COMMON_CHECK_ELEMENTWISE_H

#include "ffrt/fused.h"

namespace ffrt {

/// Throws Error unless all operands and the result are f32 with one shape and
/// one order.
void check_elementwise(Tensors in, Tensors out, int operands);

/// Throws Error unless so many operands have the type of the one result and
/// broadcast to it, aligned at the trailing dimensions.
void check_broadcast(const char *kernel, Tensors in, Tensors out,
                     std::size_t operands);

/// Throws Error unless operands and results are of these types, f32, bf16 or
/// f16, and the results of one shape and order, to which operands broadcast, or
/// which these have where they are pitched.
void check_fused(Tensors in, Tensors out, DTypes operands, DTypes results);
/// What element-wise kernels walk: of a pitched tensor its memory, as a line.
Tensor as_walked(const Tensor &t);

/// Strides of x along `rank` dimensions; zero where it is broadcast.
Index broadcast_strides(const Tensor &x, int rank);

} // namespace ffrt

#endif // FFRT_COMMON_CHECK_ELEMENTWISE_H
