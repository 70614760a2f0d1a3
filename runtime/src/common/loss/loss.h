//===- loss.h - what losses have in common ----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_LOSS_H
#define FFRT_COMMON_LOSS_H

#include "ffrt/kernel.h"

namespace ffrt {

double global_elements(const Tensor &t);

/// Checks the number of operands and results, and the first of these, a loss.
void check_loss(const char *kernel, Tensors in, Tensors out,
                std::size_t operands, std::size_t results = 1);

} // namespace ffrt

#endif // FFRT_COMMON_LOSS_H
