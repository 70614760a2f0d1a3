//===- sort.h - numbers in order of their keys ------------------*- C++ -*-===//
#ifndef FFRT_CUDA_SORT_H
#define FFRT_CUDA_SORT_H

#include <cstdint>

namespace ffrt::cuda {

/// Numbers that a sort of `n` takes as scratch.
int64_t sort_scratch(int64_t n);

/// The numbers [0, n) in order of keys[number], which are in [0, limit), and
/// where those are equal in their own order: in `scratch`.
const int64_t *sort_by_key(const int64_t *keys, int64_t n, int64_t limit,
                           int64_t *scratch);

} // namespace ffrt::cuda

#endif // FFRT_CUDA_SORT_H
