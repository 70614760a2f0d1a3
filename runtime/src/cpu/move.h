//===- move.h - copying between strided layouts -----------------*- C++ -*-===//
#ifndef FFRT_CPU_MOVE_H
#define FFRT_CPU_MOVE_H

#include "common/nest.h"

namespace ffrt {

/// Copies elements of `type` along a nest over {dst, src}.
void move_strided(DType type, const Nest<2> &nest, void *dst, const void *src);

} // namespace ffrt

#endif // FFRT_CPU_MOVE_H
