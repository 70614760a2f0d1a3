//===- check.h - errors of CUDA's libraries ---------------------*- C++ -*-===//
#ifndef FFRT_CUDA_CHECK_H
#define FFRT_CUDA_CHECK_H

#include <cuda_runtime.h>

namespace ffrt::cuda {

/// Throws Error "WHAT: the library's text" unless `status` is success.
void check(cudaError_t status, const char *what);

} // namespace ffrt::cuda

#endif // FFRT_CUDA_CHECK_H
