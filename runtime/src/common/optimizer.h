//===- optimizer.h - sums of squares in blocks ------------------*- C++ -*-===//
#ifndef FFRT_COMMON_OPTIMIZER_H
#define FFRT_COMMON_OPTIMIZER_H

#include <cstdint>

namespace ffrt {

/// Elements that are added up in one go, whatever the number of threads.
constexpr int64_t kSumBlock = 8192;

inline int64_t sum_blocks(int64_t n) { return (n + kSumBlock - 1) / kSumBlock; }

} // namespace ffrt

#endif // FFRT_COMMON_OPTIMIZER_H
