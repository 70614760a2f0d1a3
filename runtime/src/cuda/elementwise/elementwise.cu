//===- elementwise.cu - element-wise kernels on equal shapes --------------===//
#include "ffrt/elementwise.h"

#include "common/elementwise/check_elementwise.h"
#include "ffrt/cuda/map_kernel.h"

namespace ffrt {

template <class F, int N>
void Elementwise<F, N>::check(Tensors in, Tensors out) {
  check_elementwise(in, out, N);
}

template <class F, int N>
void Elementwise<F, N>::operator()(Tensors in, Tensors out) {
  if (const int64_t n = out.begin()->elements(); n > 0)
    cuda::map_line(f, cuda::MapData<cuda::Floats<N>, float>(in, out), n);
}

#define FFRT_ELEMENTWISE(Name, Functor, N)                                     \
  template class Elementwise<fn::Functor, N>;
#define FFRT_DIFFERENTIABLE(Name)                                              \
  FFRT_ELEMENTWISE(Name##Forward, Name, 1)                                     \
  FFRT_ELEMENTWISE(Name##Backward, Name##Gradient, 2)
#define FFRT_BROADCAST(Name, N)
#include "ffrt/elementwise.inc"

} // namespace ffrt
