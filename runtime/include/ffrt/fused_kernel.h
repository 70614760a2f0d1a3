//===- fused_kernel.h - how fused kernels are compiled ----------*- C++ -*-===//
#ifndef FFRT_FUSED_KERNEL_H
#define FFRT_FUSED_KERNEL_H

#ifdef FFRT_CUDA
#include "ffrt/cuda/fused_kernel.h"
#else
#include "ffrt/cpu/fused_kernel.h"
#endif

#endif // FFRT_FUSED_KERNEL_H
