//===- cum_sum.h - running sums along one dimension -------------*- C++ -*-===//
#ifndef FFRT_CUM_SUM_H
#define FFRT_CUM_SUM_H

#include "ffrt/kernel.h"

namespace ffrt {

/// {x} -> {y}: y[.., i, ..] is the sum of x[.., 0, ..] to x[.., i, ..], without
/// the last one if `exclusive`, from the end if `reverse`. Type f32, row-major;
/// the tiles hold all positions along `axis`.
class CumSum {
public:
  CumSum(Context &cx, Tensors in, Tensors out, int64_t axis, int64_t exclusive,
         int64_t reverse);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
  bool exclusive, reverse;
};

} // namespace ffrt

#endif // FFRT_CUM_SUM_H
