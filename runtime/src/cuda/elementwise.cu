//===- elementwise.cu - element-wise kernels on equal shapes --------------===//
#include "ffrt/elementwise.h"

#include "common/check_elementwise.h"
#include "ffrt/cuda/launch.h"

#include <utility>

namespace ffrt {

namespace {

template <int N> struct Operands { const float *x[N]; };

template <class F, int N, std::size_t... I>
__device__ float value_at(const F &f, const Operands<N> &operands, int64_t i,
                          std::index_sequence<I...>) {
  return f(operands.x[I][i]...);
}

template <class F, int N>
__global__ void elementwise_kernel(int64_t n, F f, Operands<N> operands,
                                   float *y) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step)
    y[i] = value_at(f, operands, i, std::make_index_sequence<N>());
}

} // namespace

template <class F, int N>
void Elementwise<F, N>::check(Tensors in, Tensors out) {
  check_elementwise(in, out, N);
}

template <class F, int N>
void Elementwise<F, N>::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0];
  Operands<N> operands;
  for (int k = 0; k < N; ++k)
    operands.x[k] = in.begin()[k].template as<float>();
  if (const int64_t n = y.elements(); n > 0)
    cuda::launch(cuda::blocks_for(n), cuda::kThreads, elementwise_kernel<F, N>,
                 n, f, operands, y.as<float>());
}

#define FFRT_ELEMENTWISE(Name, Functor, N)                                     \
  template class Elementwise<fn::Functor, N>;
#define FFRT_DIFFERENTIABLE(Name)                                              \
  FFRT_ELEMENTWISE(Name##Forward, Name, 1)                                     \
  FFRT_ELEMENTWISE(Name##Backward, Name##Gradient, 2)
#define FFRT_BROADCAST(Name, N)
#include "ffrt/elementwise.inc"

} // namespace ffrt
