//===- gather.h - a tensor as runs along one dimension ----------*- C++ -*-===//
#ifndef FFRT_COMMON_GATHER_H
#define FFRT_COMMON_GATHER_H

#include "ffrt/tensor.h"

namespace ffrt {

/// A tensor as blocks of positions along the axis, each position being a run
/// of elements that lie side by side.
struct Runs {
  int64_t blocks = 1, positions, length = 1;

  Runs(const Tensor &t, int axis) : positions(t.shape[axis]) {
    const Index strides = t.strides();
    for (int d = 0; d < t.rank; ++d)
      if (d != axis)
        (strides[d] < strides[axis] ? length : blocks) *= t.shape[d];
  }
};

} // namespace ffrt

#endif // FFRT_COMMON_GATHER_H
