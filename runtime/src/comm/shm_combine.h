//===- shm_combine.h - reduction of several buffers -------------*- C++ -*-===//
#ifndef FFRT_COMM_SHM_COMBINE_H
#define FFRT_COMM_SHM_COMBINE_H

#include "ffrt/comm.h"

namespace ffrt {

/// Combines elements [offset, offset + n) of `count` >= 2 sources, in order,
/// into the same elements of `to` and, if there is one, `copy`. Destinations
/// may be sources.
using Combine = void (*)(const char *const *sources, int count, int64_t offset,
                         int64_t n, char *to, char *copy);

Combine combine_of(DType type, ReduceOp op);

} // namespace ffrt

#endif // FFRT_COMM_SHM_COMBINE_H
