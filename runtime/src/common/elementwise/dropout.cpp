//===- dropout.cpp - operands of dropout ----------------------------------===//
#include "ffrt/dropout.h"

#include "common/kernels/check.h"

namespace ffrt {

Dropout::Dropout(Context &cx, Tensors in, Tensors out, int64_t key,
                 double ratio)
    : cx(cx), key(uint64_t(key)), ratio(Real(ratio)) {
  const char *kernel = "dropout";
  if (in.size() != 2)
    expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_float_pair(kernel, "operand", x, "result", y);
  expect_same_shape(kernel, "operand", x, y);
  expect_same_order(kernel, "operand", x, y);
  if (in.size() == 2) {
    const Tensor &addend = in.begin()[1];
    expect_float_pair(kernel, "addend", addend, "operand", x);
    expect_float_pair(kernel, "addend", addend, "result", y);
    expect_same_shape(kernel, "addend", addend, y);
    expect_same_order(kernel, "addend", addend, y);
  }
  expect(kernel, ratio >= 0.0 && ratio < 1.0,
         "ratio: expected a number in [0, 1), found " + std::to_string(ratio));
}

} // namespace ffrt
