//===- lines.h - a tensor as lines along one dimension ----------*- C++ -*-===//
#ifndef FFRT_COMMON_LINES_H
#define FFRT_COMMON_LINES_H

#include "ffrt/function.h"
#include "ffrt/tensor.h"

#include <algorithm>

namespace ffrt {

/// The lines of a row-major tensor along an axis. Tensors that are shorter
/// along it have the same lines, further apart or closer.
struct Lines {
  int64_t count, extent, stride;

  Lines(const Tensor &t, int axis)
      : count(t.elements() / std::max<int64_t>(t.shape[axis], 1)),
        extent(t.shape[axis]), stride(t.strides()[axis]) {}
  FFRT_FUNCTION int64_t start(int64_t line) const {
    return line / stride * stride * extent + line % stride;
  }
};

} // namespace ffrt

#endif // FFRT_COMMON_LINES_H
