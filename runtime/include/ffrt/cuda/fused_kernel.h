//===- fused_kernel.h - fused kernels on a GPU ------------------*- C++ -*-===//
#ifndef FFRT_CUDA_FUSED_KERNEL_H
#define FFRT_CUDA_FUSED_KERNEL_H

#include "ffrt/cuda/map_kernel.h"
#include "ffrt/fused.h"

namespace ffrt {

class FusedWalk : public cuda::MapNest {
public:
  FusedWalk(Tensors in, Tensors out, int operands, int results);
};

template <class F, int N, int M>
Fused<F, N, M>::Fused(Context &, Tensors in, Tensors out)
    : walk(std::make_shared<FusedWalk>(in, out, N, M)) {}

template <class F, int N, int M>
void Fused<F, N, M>::operator()(Tensors in, Tensors out) {
  if (const int64_t n = out.begin()->elements(); n > 0)
    cuda::map(F(), *walk, cuda::MapData<N, M>(in, out), n);
}

} // namespace ffrt

#endif // FFRT_CUDA_FUSED_KERNEL_H
