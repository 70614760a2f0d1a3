//===- loss.h - what losses have in common ----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_LOSS_H
#define FFRT_COMMON_LOSS_H

#include "ffrt/kernel.h"

namespace ffrt {

double global_elements(const Tensor &t);

/// Checks the number of operands, and the result but for its type if that is a
/// gradient.
void check_loss(const char *kernel, Tensors in, Tensors out, bool forward,
                std::size_t operands);

} // namespace ffrt

#endif // FFRT_COMMON_LOSS_H
