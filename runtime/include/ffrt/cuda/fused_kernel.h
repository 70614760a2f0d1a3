//===- fused_kernel.h - fused kernels on a GPU ------------------*- C++ -*-===//
#ifndef FFRT_CUDA_FUSED_KERNEL_H
#define FFRT_CUDA_FUSED_KERNEL_H

#include "ffrt/cuda/map_kernel.h"
#include "ffrt/fused.h"

namespace ffrt {

class FusedWalk : public cuda::MapNest {
public:
  FusedWalk(Tensors in, Tensors out, DTypes operands, DTypes results);
};

template <class F, class... X, class... Y>
void Fused<F, From<X...>, Y...>::operator()(Tensors in, Tensors out) {
  if (const int64_t n = out.begin()->span(); n > 0)
    cuda::map(F(), *walk, cuda::MapData<From<X...>, Y...>(in, out), n);
}

} // namespace ffrt

#endif // FFRT_CUDA_FUSED_KERNEL_H
