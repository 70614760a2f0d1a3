//===- map_kernel.h - functions of elements ---------------------*- C++ -*-===//
//
// What kernels for element-wise functions are made of. Results are dense and of
// one order; operands have it too, or broadcast.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_MAP_KERNEL_H
#define FFRT_CUDA_MAP_KERNEL_H

#include "ffrt/cuda/map_queue.h"
#include "ffrt/cuda/walk.h"

#include <type_traits>

namespace ffrt::cuda {

/// A nest over the operands that goes through the results from one end to the
/// other.
struct MapNest {
  int rank = 0;
  int64_t extent[kMaxRank];
  int64_t stride[kMaxRank][kMaxFused];

  /// Operands broadcast to `y`.
  MapNest(Tensors in, const Tensor &y);

  /// Do operands lie like the results?
  bool is_line(int operands) const;
  /// Is the innermost dimension made of groups, of all of these operands?
  /// `begin`: may they begin where an operand does?
  bool has_groups(const bool *begin, int operands) const;
};

/// Operands that all lie like the results.
template <int N> struct Line {
  int64_t elements, width;
  explicit Line(int64_t n, int64_t width)
      : elements((n + width - 1) / width), width(width) {}
  __device__ int64_t step(int) const { return 1; }
  __device__ Offsets<N> operator()(int64_t i) const {
    Offsets<N> offsets;
    FFRT_UNROLL
    for (int k = 0; k < N; ++k)
      offsets.at[k] = i * width;
    return offsets;
  }
};

/// `count` elements from `x` on, `step` apart.
template <class X, int W>
__device__ void read_step(const X *x, int64_t step, int count, float (&to)[W]) {
  if constexpr (W == 1) {
    to[0] = float(*x);
  } else if (step == 1 && count == W) {
    widen(read_group(x), to);
  } else if (step == 0) {
    const float value(*x);
    FFRT_UNROLL
    for (int w = 0; w < W; ++w)
      to[w] = value;
  } else {
    FFRT_UNROLL
    for (int w = 0; w < W; ++w)
      to[w] = w < count ? float(x[w * step]) : 0.0f;
  }
}

/// Of all operands, from `at` on.
template <class... X, class... Y, class Places, int W, std::size_t... K>
__device__ void
read_steps(const MapData<From<X...>, Y...> &data, const Places &places,
           const Offsets<sizeof...(X)> &at, int count,
           float (&to)[sizeof...(X)][W], std::index_sequence<K...>) {
  (read_step(static_cast<const X *>(data.x[K]) + at[K], places.step(K), count,
             to[K]),
   ...);
}

/// f for n elements, of which a thread has W, 1 or kGroup, at once. Where
/// operands are few, it reads the next ones before it writes.
template <int W, class Places, class F, class Operands, class... Y>
__global__ void map_kernel(Places places, MapData<Operands, Y...> data,
                           int64_t n, F f) {
  constexpr int N = data.N, M = data.M, kAtOnce = N <= 2 ? 2 : 1;
  const int64_t stride = int64_t(gridDim.x) * blockDim.x;
  const auto count = [=](int64_t g) {
    return n - g * W < W ? int(n - g * W) : W;
  };
  for (int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
       first < places.elements; first += kAtOnce * stride) {
    float x[kAtOnce][N][W];
    FFRT_UNROLL
    for (int a = 0; a < kAtOnce; ++a)
      if (const int64_t g = first + a * stride; g < places.elements)
        read_steps(data, places, places(g), count(g), x[a],
                   std::make_index_sequence<N>());
    FFRT_UNROLL
    for (int a = 0; a < kAtOnce; ++a)
      if (const int64_t g = first + a * stride; g < places.elements) {
        float y[M][W];
        map_elements(f, x[a], y, std::make_index_sequence<N>());
        write_results(data, Span{g * W, count(g), count(g) == W}, y,
                      std::index_sequence_for<Y...>());
      }
  }
}

template <int W, class Places, class F, class Operands, class... Y>
void launch_map(const Places &places, const MapData<Operands, Y...> &data,
                int64_t n, const F &f) {
  launch(blocks_for(places.elements), kThreads,
         map_kernel<W, Places, F, Operands, Y...>, places, data, n, f);
}

/// {y...} = f(x...) for n elements where all lie alike.
template <class Operands, class... Y, class F>
void map_line(const F &f, const MapData<Operands, Y...> &data, int64_t n) {
  constexpr int N = MapData<Operands, Y...>::N;
  if constexpr (std::is_empty_v<F>)
    if (n <= kSmallMap)
      return map_later<F>(data, n);
  if (data.has_groups())
    launch_map<kGroup>(Line<N>(n, kGroup), data, n, f);
  else
    launch_map<1>(Line<N>(n, 1), data, n, f);
}

/// The same where operands broadcast.
template <class Operands, class... Y, class F>
void map(const F &f, const MapNest &nest, const MapData<Operands, Y...> &data,
         int64_t n) {
  constexpr int N = MapData<Operands, Y...>::N;
  if (nest.is_line(N))
    map_line(f, data, n);
  else if (nest.has_groups(data.operand_groups().data(), N) &&
           data.has_result_groups())
    launch_map<kGroup>(Walk<N>(nest, kGroup), data, n, f);
  else
    launch_map<1>(Walk<N>(nest), data, n, f);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_MAP_KERNEL_H
