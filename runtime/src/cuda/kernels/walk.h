//===- walk.h - walks of nests and boxes ------------------------*- C++ -*-===//
#ifndef FFRT_CUDA_NEST_WALK_H
#define FFRT_CUDA_NEST_WALK_H

#include "common/kernels/nest.h"
#include "ffrt/cuda/walk.h"

namespace ffrt::cuda {

/// The coordinates of element i of a box, whose last dimension is the innermost
/// one.
template <int D> class Coordinates {
public:
  explicit Coordinates(const std::array<int64_t, D> &extent)
      : walk(Box(extent)) {}
  __device__ Offsets<D> operator()(int64_t i) const { return walk(i); }

private:
  /// Operand d is coordinate d.
  struct Box {
    int rank = D;
    std::array<int64_t, D> extent;
    int64_t stride[D][D] = {};
    explicit Box(const std::array<int64_t, D> &extent) : extent(extent) {
      for (int d = 0; d < D; ++d)
        stride[d][d] = 1;
    }
  };
  Walk<D> walk;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_NEST_WALK_H
