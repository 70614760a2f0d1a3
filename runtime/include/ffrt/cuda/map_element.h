//===- map_element.h - functions of elements --------------------*- C++ -*-===//
#ifndef FFRT_CUDA_MAP_ELEMENT_H
#define FFRT_CUDA_MAP_ELEMENT_H

#include "ffrt/cuda/group.h"
#include "ffrt/kernel.h"

#include <array>
#include <utility>

namespace ffrt::cuda {

/// Data of all operands and results.
template <int N, int M> struct MapData {
  const float *x[N];
  float *y[M];

  MapData() = default;
  MapData(Tensors in, Tensors out) {
    for (int k = 0; k < N; ++k)
      x[k] = in.begin()[k].template as<float>();
    for (int k = 0; k < M; ++k)
      y[k] = out.begin()[k].template as<float>();
  }
  /// May groups begin at all of them?
  bool has_groups() const {
    bool all = true;
    for (const float *data : x)
      all &= begins_group(data);
    for (const float *data : y)
      all &= begins_group(data);
    return all;
  }
};

/// y = f(x), which gives a float or an array of M.
template <class F, int N, int M, std::size_t... I>
__device__ void map_element(const F &f, const float (&x)[N], float (&y)[M],
                            std::index_sequence<I...>) {
  if constexpr (M == 1) {
    y[0] = f(x[I]...);
  } else {
    const std::array<float, M> values = f(x[I]...);
    FFRT_UNROLL
    for (int k = 0; k < M; ++k)
      y[k] = values[std::size_t(k)];
  }
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_MAP_ELEMENT_H
