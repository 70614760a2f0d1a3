//===- fused_kernel.h - fused kernels on a GPU ------------------*- C++ -*-===//
#ifndef FFRT_CUDA_FUSED_KERNEL_H
#define FFRT_CUDA_FUSED_KERNEL_H

#include "ffrt/cuda/launch.h"
#include "ffrt/fused.h"

#include <array>
#include <utility>

namespace ffrt {

/// Which element of an operand belongs to element i of the results, which are
/// dense and of one order.
class FusedWalk {
public:
  FusedWalk(Tensors in, Tensors out, int operands, int results);

  /// For kernels, by value.
  template <int N> struct Operands {
    bool flat;
    int rank;
    int64_t extent[kMaxRank];
    int64_t stride[N][kMaxRank];

    __device__ int64_t at(int k, int64_t i) const {
      int64_t offset = 0;
      for (int d = rank - 1; d >= 0; --d) {
        offset += i % extent[d] * stride[k][d];
        i /= extent[d];
      }
      return offset;
    }
  };
  template <int N> Operands<N> operands() const {
    Operands<N> result{flat, rank, {}, {}};
    for (int d = 0; d < rank; ++d) {
      result.extent[d] = extent[d];
      for (int k = 0; k < N; ++k)
        result.stride[k][d] = stride[k][d];
    }
    return result;
  }

private:
  bool flat = true;
  int rank = 0;
  int64_t extent[kMaxRank];
  int64_t stride[kMaxFused][kMaxRank];
};

/// Data of all tensors of a fused kernel.
template <int N, int M> struct FusedData {
  const float *x[N];
  float *y[M];
};

template <class F, int N, int M, std::size_t... I, std::size_t... J>
__device__ void fused_element(const FusedData<N, M> &data, int64_t i,
                              const int64_t *at, std::index_sequence<I...>,
                              std::index_sequence<J...>) {
  const F f;
  if constexpr (M == 1) {
    data.y[0][i] = f(data.x[I][at[I]]...);
  } else {
    const std::array<float, M> value = f(data.x[I][at[I]]...);
    ((data.y[J][i] = value[J]), ...);
  }
}

template <class F, int N, int M>
__global__ void fused_kernel(int64_t n, FusedWalk::Operands<N> operands,
                             FusedData<N, M> data) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    int64_t at[N];
    for (int k = 0; k < N; ++k)
      at[k] = operands.flat ? i : operands.at(k, i);
    fused_element<F>(data, i, at, std::make_index_sequence<N>(),
                     std::make_index_sequence<M>());
  }
}

template <class F, int N, int M>
Fused<F, N, M>::Fused(Context &, Tensors in, Tensors out)
    : walk(std::make_shared<FusedWalk>(in, out, N, M)) {}

template <class F, int N, int M>
void Fused<F, N, M>::operator()(Tensors in, Tensors out) {
  FusedData<N, M> data;
  for (int k = 0; k < N; ++k)
    data.x[k] = in.begin()[k].template as<float>();
  for (int k = 0; k < M; ++k)
    data.y[k] = out.begin()[k].template as<float>();
  if (const int64_t n = out.begin()->elements(); n > 0)
    cuda::launch(cuda::blocks_for(n), cuda::kThreads, fused_kernel<F, N, M>, n,
                 walk->operands<N>(), data);
}

} // namespace ffrt

#endif // FFRT_CUDA_FUSED_KERNEL_H
