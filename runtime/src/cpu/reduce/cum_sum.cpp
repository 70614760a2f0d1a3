//===- cum_sum.cpp - running sums along one dimension ---------------------===//
#include "ffrt/cum_sum.h"

#include "common/kernels/lines.h"
#include "ffrt/parallel.h"

#include <algorithm>

namespace ffrt {

void CumSum::operator()(Tensors in, Tensors out) {
  const Lines lines(*in.begin(), axis);
  const int64_t extent = lines.extent, stride = lines.stride;
  const Real *x = in.begin()->as<Real>();
  Real *y = out.begin()->as<Real>();
  const int64_t step = reverse ? -stride : stride;
  parallel_for(lines.count, 1 + 16384 / std::max<int64_t>(extent, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   int64_t at = lines.start(row);
                   if (reverse)
                     at += (extent - 1) * stride;
                   Real sum = 0;
                   for (int64_t i = 0; i < extent; ++i, at += step) {
                     const Real next = sum + x[at];
                     y[at] = exclusive ? sum : next;
                     sum = next;
                   }
                 }
               });
}

} // namespace ffrt
