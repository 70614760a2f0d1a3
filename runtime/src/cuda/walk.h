//===- walk.h - elements of strided operands --------------------*- C++ -*-===//
//
// A loop nest (common/nest.h) for kernels: where element number i of the nest
// lies in every operand.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_WALK_H
#define FFRT_CUDA_WALK_H

#include "common/nest.h"

#include <cuda_runtime.h>

namespace ffrt::cuda {

template <int K> struct Offsets {
  int64_t at[K];
  __device__ int64_t operator[](int k) const { return at[k]; }
};

template <int K> struct Walk {
  int rank;
  int64_t elements;
  int64_t extent[kMaxRank];
  int64_t stride[kMaxRank][K];

  Walk(const Nest<K> &nest) : rank(nest.rank), elements(1) {
    for (int d = 0; d < rank; ++d) {
      extent[d] = nest.extent[d];
      elements *= extent[d];
      for (int k = 0; k < K; ++k)
        stride[d][k] = nest.stride[d][k];
    }
  }

  __device__ Offsets<K> operator()(int64_t i) const {
    Offsets<K> offsets{};
    for (int d = rank - 1; d > 0; --d) {
      const int64_t at = i % extent[d];
      i /= extent[d];
      for (int k = 0; k < K; ++k)
        offsets.at[k] += at * stride[d][k];
    }
    for (int k = 0; k < K; ++k)
      offsets.at[k] += i * stride[0][k];
    return offsets;
  }
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_WALK_H
