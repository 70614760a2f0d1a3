//===- load.h - boxes out of row-major arrays -------------------*- C++ -*-===//
#ifndef FFRT_COMMON_LOAD_H
#define FFRT_COMMON_LOAD_H

#include "ffrt/tensor.h"

namespace ffrt {

/// Fills `dst` with its box of a row-major array of shape dst.global that
/// starts at `data`, converting from `type` and multiplying with `scale`.
/// Throws Error when a float type meets an integer destination.
void load_box(const Tensor &dst, const void *data, DType type,
              double scale = 1.0);

} // namespace ffrt

#endif // FFRT_COMMON_LOAD_H
