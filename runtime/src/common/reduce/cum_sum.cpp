//===- cum_sum.cpp - operands of running sums -----------------------------===//
#include "ffrt/cum_sum.h"

#include "common/kernels/check.h"

namespace ffrt {

CumSum::CumSum(Context &, Tensors in, Tensors out, int64_t axis,
               int64_t exclusive, int64_t reverse)
    : axis(static_cast<int>(axis)), exclusive(exclusive != 0),
      reverse(reverse != 0) {
  const char *kernel = "cum_sum";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = *in.begin(), &y = *out.begin();
  expect_type(kernel, "x", x, kReal);
  expect_type(kernel, "y", y, kReal);
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

} // namespace ffrt
