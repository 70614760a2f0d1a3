//===- cum_sum.cpp - running sums along one dimension ---------------------===//
#include "ffrt/cum_sum.h"

#include "common/check.h"
#include "ffrt/parallel.h"

#include <algorithm>

namespace ffrt {

CumSum::CumSum(Context &, Tensors in, Tensors out, int64_t axis,
               int64_t exclusive, int64_t reverse)
    : axis(static_cast<int>(axis)), exclusive(exclusive != 0),
      reverse(reverse != 0) {
  const char *kernel = "cum_sum";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = *in.begin(), &y = *out.begin();
  expect_type(kernel, "x", x, DType::f32);
  expect_type(kernel, "y", y, DType::f32);
  expect_row_major(kernel, "x", x);
  expect_row_major(kernel, "y", y);
  expect_same_shape(kernel, "y", y, x);
  expect(kernel, axis >= 0 && axis < x.rank,
         "expected axis within rank " + std::to_string(x.rank) + ", found " +
             std::to_string(axis));
  expect(kernel, x.shape[this->axis] == x.global[this->axis],
         "expected all positions along the axis (" +
             std::to_string(x.global[this->axis]) + "), found " +
             std::to_string(x.shape[this->axis]));
}

void CumSum::operator()(Tensors in, Tensors out) {
  const Tensor &source = *in.begin();
  const int64_t extent = source.shape[axis], stride = source.strides()[axis];
  const int64_t rows = source.elements() / std::max<int64_t>(extent, 1);
  const float *x = source.as<float>();
  float *y = out.begin()->as<float>();
  const int64_t step = reverse ? -stride : stride;
  parallel_for(rows, 1 + 16384 / std::max<int64_t>(extent, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   int64_t at = row / stride * stride * extent + row % stride;
                   if (reverse)
                     at += (extent - 1) * stride;
                   float sum = 0;
                   for (int64_t i = 0; i < extent; ++i, at += step) {
                     const float next = sum + x[at];
                     y[at] = exclusive ? sum : next;
                     sum = next;
                   }
                 }
               });
}

} // namespace ffrt
