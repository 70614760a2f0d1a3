//===- copy.h - moving boxes between buffers --------------------*- C++ -*-===//
#ifndef FFRT_COPY_H
#define FFRT_COPY_H

#include "ffrt/comm.h"
#include "ffrt/tensor.h"

namespace ffrt {

/// Copies a box of `size` elements from local coordinate `src_at` of `src` to
/// local coordinate `dst_at` of `dst`. Ranks and types are equal; orders may
/// differ. The boxes lie inside their tensors and do not overlap in memory.
void copy(const Tensor &dst, Index dst_at, const Tensor &src, Index src_at,
          Index size);

/// As copy, with dst = dst op src. Types: f32, f64, i32, i64.
void combine(const Tensor &dst, Index dst_at, const Tensor &src, Index src_at,
             Index size, ReduceOp op);

/// As copy, with dst = dst + factor * src; without what was there if `first`.
/// Types: f32, f64.
void accumulate(const Tensor &dst, Index dst_at, const Tensor &src,
                Index src_at, Index size, bool first, double factor);

/// Copies what the boxes of both tensors have in common, where element x of
/// `src` has the global coordinate x + shift in `dst`. An absent tensor or an
/// empty intersection copies nothing.
void copy_overlap(const Tensor &dst, const Tensor &src, Index shift);

/// Sets all elements of a tensor. Types: f32 (f64), i32, bf16, f16.
void fill(const Tensor &dst, double value);

} // namespace ffrt

#endif // FFRT_COPY_H
