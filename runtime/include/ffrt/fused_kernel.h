//===- fused_kernel.h - how fused kernels are compiled ----------*- C++ -*-===//
#ifndef FFRT_FUSED_KERNEL_H
#define FFRT_FUSED_KERNEL_H

#ifdef FFRT_CUDA
#include "ffrt/cuda/fused_kernel.h"
#else
#include "ffrt/cpu/fused_kernel.h"
#endif

namespace ffrt {

template <class F, class... X, class... Y>
Fused<F, From<X...>, Y...>::Fused(Context &, Tensors in, Tensors out)
    : walk(std::make_shared<FusedWalk>(
          in, out, DTypes{dtype_of(static_cast<X *>(nullptr))...},
          DTypes{dtype_of(static_cast<Y *>(nullptr))...})) {}

} // namespace ffrt

#endif // FFRT_FUSED_KERNEL_H
