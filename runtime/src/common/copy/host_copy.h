//===- host_copy.h - moving boxes in the host's memory ----------*- C++ -*-===//
#ifndef FFRT_COMMON_HOST_COPY_H
#define FFRT_COMMON_HOST_COPY_H

#include "common/kernels/nest.h"

namespace ffrt {

/// As move_strided() of common/copy/move.h.
void move_on_host(DType type, const Nest<2> &nest, void *dst, const void *src);

/// As copy() of ffrt/copy.h.
void copy_on_host(const Tensor &dst, Index dst_at, const Tensor &src,
                  Index src_at, Index size);

} // namespace ffrt

#endif // FFRT_COMMON_HOST_COPY_H
