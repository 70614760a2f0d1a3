//===- loss.h - elements of loss functions ----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_LOSS_H
#define FFRT_COMMON_LOSS_H

#include "common/nest.h"

namespace ffrt {

double global_elements(const Tensor &t);

/// One element of the target after the other, over {target, logits, gradient}
/// without their class dimension `axis`.
Nest<3> loss_samples(const Tensor &logits, const Tensor &target,
                     const Tensor &gradient, int axis);

} // namespace ffrt

#endif // FFRT_COMMON_LOSS_H
