//===- reduce.h - sums over dimensions --------------------------*- C++ -*-===//
#ifndef FFRT_REDUCE_H
#define FFRT_REDUCE_H

#include "ffrt/kernel.h"

#include <vector>

namespace ffrt {

/// {x} -> {y}: sums over `axes` (none: over all), of the tile only. keepdims
/// not 0 keeps the summed dimensions with extent 1. Type f32, accumulated in
/// f64; the same bits for the same number of threads.
class ReduceSum {
public:
  ReduceSum(Context &cx, Tensors in, Tensors out, const Ints &axes,
            int64_t keepdims);
  void operator()(Tensors in, Tensors out);

private:
  bool summed[kMaxRank] = {};
  bool keepdims;
  int parts;                   ///< slices of x that are summed concurrently
  std::vector<double> scratch; ///< parts times the elements of y
};

} // namespace ffrt

#endif // FFRT_REDUCE_H
