//===- broadcast.cu - element-wise kernels whose operands broadcast -------===//
#include "ffrt/elementwise.h"

#include "common/check.h"
#include "common/check_elementwise.h"
#include "common/move.h"
#include "cuda/walk.h"
#include "ffrt/cuda/launch.h"

#include <array>
#include <utility>

namespace ffrt {

namespace {

template <int N> struct Operands { const float *x[N]; };

template <class F, int N, std::size_t... I>
__device__ float value_at(const Operands<N> &operands,
                          const cuda::Offsets<N + 1> &at,
                          std::index_sequence<I...>) {
  return F()(operands.x[I][at[int(I) + 1]]...);
}

template <class F, int N>
__global__ void broadcast_kernel(cuda::Walk<N + 1> walk, Operands<N> operands,
                                 float *y) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
       i < walk.elements; i += step) {
    const cuda::Offsets<N + 1> at = walk(i);
    y[at[0]] = value_at<F, N>(operands, at, std::make_index_sequence<N>());
  }
}

} // namespace

template <class F, int N>
Broadcast<F, N>::Broadcast(Context &, Tensors in, Tensors out) {
  check_broadcast("broadcast", in, out, N);
  expect_type("broadcast", "result", out.begin()[0], DType::f32);
}

template <class F, int N>
void Broadcast<F, N>::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0];
  std::array<Index, N + 1> strides = {y.strides()};
  Operands<N> operands;
  for (int k = 0; k < N; ++k) {
    strides[std::size_t(k) + 1] = broadcast_strides(in.begin()[k], y.rank);
    operands.x[k] = in.begin()[k].template as<float>();
  }
  const cuda::Walk<N + 1> walk(Nest<N + 1>(y.rank, y.shape, strides));
  if (walk.elements > 0)
    cuda::launch(cuda::blocks_for(walk.elements), cuda::kThreads,
                 broadcast_kernel<F, N>, walk, operands, y.as<float>());
}

#define FFRT_ELEMENTWISE(Name, Functor, N)
#define FFRT_DIFFERENTIABLE(Name)
#define FFRT_BROADCAST(Name, N) template class Broadcast<fn::Name, N>;
#include "ffrt/elementwise.inc"

Expand::Expand(Context &, Tensors in, Tensors out) {
  check_broadcast("expand", in, out, 1);
}
void Expand::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const Nest<2> nest(y.rank, y.shape,
                     {y.strides(), broadcast_strides(x, y.rank)});
  move_strided(y.type, nest, y.data, x.data);
}

} // namespace ffrt
