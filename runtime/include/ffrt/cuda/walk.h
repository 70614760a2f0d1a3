//===- walk.h - elements of strided operands --------------------*- C++ -*-===//
//
// A loop nest for kernels: where element number i of the nest lies in every
// operand, without divisions, and in numbers of 32 bits where these hold all
// offsets.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_WALK_H
#define FFRT_CUDA_WALK_H

#include "ffrt/cuda/division.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/tensor.h"

namespace ffrt::cuda {

template <int K> struct Offsets {
  int64_t at[K];
  __device__ int64_t operator[](int k) const { return at[k]; }
};

template <int K> struct Walk {
  int64_t elements = 1;

  /// Of a nest as that of common/kernels/nest.h, outermost dimension first; or
  /// of its groups of `width` elements along the innermost dimension, of which
  /// the last may be smaller. Nests of more operands lose the last ones.
  template <class Nest>
  Walk(const Nest &nest, int64_t width = 1) : rank(nest.rank) {
    int64_t furthest[K] = {};
    for (int d = 0; d < rank; ++d) {
      const int from = rank - 1 - d;
      const int64_t group = d == 0 ? width : 1,
                    extent = (nest.extent[from] + group - 1) / group;
      elements *= extent;
      for (int k = 0; k < K; ++k) {
        stride[d][k] = nest.stride[from][k] * group;
        furthest[k] += (extent - 1) * stride[d][k];
      }
      if (extent > 0)
        by[d] = Division<uint64_t>(extent);
    }
    for (int k = 0; k < K; ++k) {
      next[k] = nest.stride[rank - 1][k];
      small &= furthest[k] <= kSmall;
    }
    small &= elements <= kSmall;
    for (int d = 0; small && d < rank; ++d)
      by_small[d] = Division<uint32_t>(int64_t(by[d].divisor()));
  }

  /// Of neighbours along the innermost dimension.
  FFRT_FUNCTION int64_t step(int k) const { return next[k]; }

  __device__ Offsets<K> operator()(int64_t i) const {
    return small ? place(uint32_t(i), by_small) : place(uint64_t(i), by);
  }

private:
  static constexpr int64_t kSmall = INT32_MAX;

  template <class U>
  __device__ Offsets<K> place(U i, const Division<U> *division) const {
    U at[K] = {};
    FFRT_UNROLL
    for (int d = 0; d < kMaxRank; ++d) {
      if (d + 1 == rank) {
        FFRT_UNROLL
        for (int k = 0; k < K; ++k)
          at[k] += i * U(stride[d][k]);
        break;
      }
      const U rest = division[d](i), here = i - rest * division[d].divisor();
      FFRT_UNROLL
      for (int k = 0; k < K; ++k)
        at[k] += here * U(stride[d][k]);
      i = rest;
    }
    Offsets<K> offsets;
    FFRT_UNROLL
    for (int k = 0; k < K; ++k)
      offsets.at[k] = int64_t(at[k]);
    return offsets;
  }

  int rank;
  bool small = true;
  int64_t next[K];
  // Of groups, innermost dimension first.
  int64_t stride[kMaxRank][K] = {};
  Division<uint32_t> by_small[kMaxRank];
  Division<uint64_t> by[kMaxRank];
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_WALK_H
