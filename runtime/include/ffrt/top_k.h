//===- top_k.h - largest elements along one dimension -----------*- C++ -*-===//
#ifndef FFRT_TOP_K_H
#define FFRT_TOP_K_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

/// {x} -> {y, index}: as many elements along `axis` as y has room for, in
/// descending order, or the smallest in ascending order with largest = 0, and
/// where in x they are. Of equal elements the first comes first; what is not a
/// number counts as larger than everything. One of the results may be absent.
/// Types f32 and i64, row-major; the tiles hold all positions along `axis`.
class TopK {
public:
  TopK(Context &cx, Tensors in, Tensors out, int64_t axis, int64_t largest);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
  bool largest;
  struct Plan;
  std::shared_ptr<Plan> plan;
};

/// {dy, index} -> {dx}: zero but where elements were taken from.
class TopKBackward {
public:
  TopKBackward(Context &cx, Tensors in, Tensors out, int64_t axis);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
};

} // namespace ffrt

#endif // FFRT_TOP_K_H
