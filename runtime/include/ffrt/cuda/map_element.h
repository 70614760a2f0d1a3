//===- map_element.h - functions of elements --------------------*- C++ -*-===//
#ifndef FFRT_CUDA_MAP_ELEMENT_H
#define FFRT_CUDA_MAP_ELEMENT_H

#include "ffrt/cuda/group.h"
#include "ffrt/kernel.h"

#include <array>
#include <utility>

namespace ffrt::cuda {

/// Data of all operands and results, which are of the types Y.
template <int N, class... Y> struct MapData {
  static constexpr int M = sizeof...(Y);
  const float *x[N];
  void *y[M];

  MapData() = default;
  MapData(Tensors in, Tensors out) {
    for (int k = 0; k < N; ++k)
      x[k] = in.begin()[k].template as<float>();
    for (int k = 0; k < M; ++k)
      y[k] = out.begin()[k].data;
  }
  /// May groups begin at all of them?
  bool has_groups() const {
    bool all = has_result_groups();
    for (const float *data : x)
      all &= begins_group(data);
    return all;
  }
  bool has_result_groups() const {
    return begin_groups(std::index_sequence_for<Y...>());
  }

private:
  template <std::size_t... K>
  bool begin_groups(std::index_sequence<K...>) const {
    return (begins_group(static_cast<const Y *>(y[K])) && ...);
  }
};

/// Values of one result, as Y.
template <class Y, int W>
__device__ void write_as(void *to, const Span &span, const float (&values)[W]) {
  if constexpr (W == kGroup) {
    Group<Y> group;
    FFRT_UNROLL
    for (int w = 0; w < W; ++w)
      group[w] = Y(values[w]);
    write(static_cast<Y *>(to), span, group);
  } else {
    static_cast<Y *>(to)[span.first] = Y(values[0]);
  }
}

/// Of all results.
template <int N, class... Y, int W, std::size_t... K>
__device__ void write_results(const MapData<N, Y...> &data, const Span &span,
                              const float (&values)[sizeof...(Y)][W],
                              std::index_sequence<K...>) {
  (write_as<Y>(data.y[K], span, values[K]), ...);
}

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
