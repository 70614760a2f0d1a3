//===- cast.cpp - operands of conversions ---------------------------------===//
#include "common/elementwise/cast.h"

#include "common/kernels/check.h"
#include "ffrt/elementwise.h"

namespace ffrt {

Cast::Cast(Context &, Tensors in, Tensors out, int64_t to) {
  expect_count("cast", "operands", in.size(), 1);
  expect_count("cast", "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_same_shape("cast", "operand", x, y);
  expect_same_order("cast", "operand", x, y);
  expect_type("cast", "result", y, DType(to));
}

void Cast::operator()(Tensors in, Tensors out) {
  cast_elements(in.begin()[0], out.begin()[0]);
}

} // namespace ffrt
