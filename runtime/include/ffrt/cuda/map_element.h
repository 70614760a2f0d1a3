//===- map_element.h - functions of elements --------------------*- C++ -*-===//
#ifndef FFRT_CUDA_MAP_ELEMENT_H
#define FFRT_CUDA_MAP_ELEMENT_H

#include "ffrt/cuda/group.h"
#include "ffrt/fused.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ffrt::cuda {

/// From<float, ..., float>, of N operands.
template <std::size_t... K>
From<decltype(K, float())...> floats_of(std::index_sequence<K...>);
template <int N>
using Floats = decltype(floats_of(std::make_index_sequence<N>()));

/// Data of all operands, which are of the types From names, and all results,
/// of the types Y.
template <class Operands, class... Y> struct MapData;

template <class... X, class... Y> struct MapData<From<X...>, Y...> {
  static constexpr int N = sizeof...(X), M = sizeof...(Y);
  const void *x[N];
  void *y[M];

  MapData() = default;
  MapData(Tensors in, Tensors out) {
    for (int k = 0; k < N; ++k)
      x[k] = in.begin()[k].data;
    for (int k = 0; k < M; ++k)
      y[k] = out.begin()[k].data;
  }
  /// May groups begin at all of them?
  bool has_groups() const {
    const auto begin = operand_groups();
    return has_result_groups() && std::all_of(begin.begin(), begin.end(),
                                              [](bool may) { return may; });
  }
  /// May they begin at each operand?
  std::array<bool, N> operand_groups() const {
    return operand_groups(std::index_sequence_for<X...>());
  }
  bool has_result_groups() const {
    return result_groups(std::index_sequence_for<Y...>());
  }

private:
  template <std::size_t... K>
  std::array<bool, N> operand_groups(std::index_sequence<K...>) const {
    return {begins_group(static_cast<const X *>(x[K]))...};
  }
  template <std::size_t... K>
  bool result_groups(std::index_sequence<K...>) const {
    return (begins_group(static_cast<const Y *>(y[K])) && ...);
  }
};

template <class X, int W>
__device__ void widen(const Group<X> &group, float (&to)[W]) {
  static_assert(W == kGroup);
  FFRT_UNROLL
  for (int w = 0; w < W; ++w)
    to[w] = float(group[w]);
}

/// Values of one operand, of X.
template <class X>
__device__ void read_as(const void *from, const Span &span,
                        float (&to)[kGroup]) {
  widen(read(static_cast<const X *>(from), span), to);
}

/// Of all operands.
template <class... X, class... Y, std::size_t... K>
__device__ void
read_operands(const MapData<From<X...>, Y...> &data, const Span &span,
              float (&to)[sizeof...(X)][kGroup], std::index_sequence<K...>) {
  (read_as<X>(data.x[K], span, to[K]), ...);
}

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
template <class Operands, class... Y, int W, std::size_t... K>
__device__ void write_results(const MapData<Operands, Y...> &data,
                              const Span &span,
                              const float (&values)[sizeof...(Y)][W],
                              std::index_sequence<K...>) {
  (write_as<Y>(data.y[K], span, values[K]), ...);
}

/// y = f(x) for W elements; f gives a float or an array of M.
template <class F, int N, int M, int W, std::size_t... I>
__device__ void map_elements(const F &f, const float (&x)[N][W],
                             float (&y)[M][W], std::index_sequence<I...>) {
  FFRT_UNROLL
  for (int w = 0; w < W; ++w) {
    if constexpr (M == 1) {
      y[0][w] = f(x[I][w]...);
    } else {
      const std::array<float, M> values = f(x[I][w]...);
      FFRT_UNROLL
      for (int k = 0; k < M; ++k)
        y[k][w] = values[std::size_t(k)];
    }
  }
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_MAP_ELEMENT_H
