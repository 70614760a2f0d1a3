//===- cross_entropy.h - samples of a cross-entropy -------------*- C++ -*-===//
#ifndef FFRT_COMMON_CROSS_ENTROPY_H
#define FFRT_COMMON_CROSS_ENTROPY_H

#include "common/kernels/nest.h"

namespace ffrt {

/// One element of the target after the other, over {target, logits, gradient}
/// without their class dimension `axis`. As targets are row-major, the first
/// offset is also that in maxima and sums.
Nest<3> samples_of(const Tensor &logits, const Tensor &target,
                   const Tensor &gradient, int axis);

} // namespace ffrt

#endif // FFRT_COMMON_CROSS_ENTROPY_H
