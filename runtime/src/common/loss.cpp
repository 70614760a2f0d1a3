//===- loss.cpp - operands of loss functions ------------------------------===//
#include "ffrt/loss.h"

#include "common/check.h"
#include "common/loss.h"

namespace ffrt {

double global_elements(const Tensor &t) {
  double n = 1.0;
  for (int d = 0; d < t.rank; ++d)
    n *= double(t.global[d]);
  return n;
}

void check_loss(const char *kernel, Tensors in, Tensors out, bool forward,
                std::size_t operands) {
  expect_count(kernel, "operands", in.size(), operands);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &result = out.begin()[0];
  if (forward) {
    expect_type(kernel, "result", result, DType::f32);
    expect_rank(kernel, "result", result, 0);
  } else {
    expect_same_shape(kernel, "result", result, in.begin()[0]);
  }
}

namespace {

void check_pairs(const char *kernel, Tensors in, Tensors out, bool forward) {
  check_loss(kernel, in, out, forward, 2);
  expect_type(kernel, "first operand", in.begin()[0], DType::f32);
  expect_type(kernel, "result", out.begin()[0], DType::f32);
  expect_type(kernel, "target", in.begin()[1], DType::f32);
  expect_same_shape(kernel, "target", in.begin()[1], in.begin()[0]);
}

} // namespace

MseForward::MseForward(Context &, Tensors in, Tensors out) {
  check_pairs("mse forward", in, out, true);
}

MseBackward::MseBackward(Context &, Tensors in, Tensors out) {
  check_pairs("mse backward", in, out, false);
}

BceForward::BceForward(Context &, Tensors in, Tensors out) {
  check_pairs("bce forward", in, out, true);
}

BceBackward::BceBackward(Context &, Tensors in, Tensors out) {
  check_pairs("bce backward", in, out, false);
}

} // namespace ffrt
