//===- scratch.h - parts of scratch memory ----------------------*- C++ -*-===//
#ifndef FFRT_CUDA_SCRATCH_H
#define FFRT_CUDA_SCRATCH_H

#include <cstddef>

namespace ffrt::cuda {

/// Bytes of a part behind which another one begins, aligned as memory of the
/// device is.
constexpr std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_SCRATCH_H
