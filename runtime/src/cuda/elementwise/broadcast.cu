//===- broadcast.cu - element-wise kernels whose operands broadcast -------===//
#include "ffrt/elementwise.h"

#include "common/copy/move.h"
#include "common/elementwise/check_elementwise.h"
#include "common/kernels/check.h"
#include "ffrt/cuda/map_kernel.h"

namespace ffrt {

template <class F, int N>
Broadcast<F, N>::Broadcast(Context &, Tensors in, Tensors out) {
  check_broadcast("broadcast", in, out, N);
  expect_type("broadcast", "result", out.begin()[0], DType::f32);
}

template <class F, int N>
void Broadcast<F, N>::operator()(Tensors in, Tensors out) {
  if (const int64_t n = out.begin()->elements(); n > 0)
    cuda::map(F(), cuda::MapNest(in, *out.begin()),
              cuda::MapData<cuda::Floats<N>, float>(in, out), n);
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
