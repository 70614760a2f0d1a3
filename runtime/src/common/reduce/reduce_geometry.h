//===- reduce_geometry.h - which elements a reduction combines --*- C++ -*-===//
#ifndef FFRT_COMMON_REDUCE_GEOMETRY_H
#define FFRT_COMMON_REDUCE_GEOMETRY_H

#include "common/kernels/nest.h"
#include "ffrt/reduce.h"

namespace ffrt {

/// What Reduce's constructor gets. Throws Error naming `kernel`.
ReduceGeometry check_reduce(const char *kernel, Tensors in, Tensors out,
                            const Ints &axes, int64_t keepdims);

/// All elements of x, over {x, y}: strides of y are 0 along what is reduced.
Nest<2> reduce_nest(const ReduceGeometry &geometry, const Tensor &x,
                    const Tensor &y);
/// The same along the dimensions that are reduced, or those that are not.
Nest<2> reduce_nest(const ReduceGeometry &geometry, const Tensor &x,
                    const Tensor &y, bool reduced);

} // namespace ffrt

#endif // FFRT_COMMON_REDUCE_GEOMETRY_H
