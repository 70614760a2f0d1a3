//===- loss.cpp - operands of loss functions ------------------------------===//
#include "ffrt/loss.h"

#include "common/kernels/check.h"
#include "common/loss/loss.h"

namespace ffrt {

double global_elements(const Tensor &t) {
  double n = 1.0;
  for (int d = 0; d < t.rank; ++d)
    n *= double(t.global[d]);
  return n;
}

void check_loss(const char *kernel, Tensors in, Tensors out,
                std::size_t operands, std::size_t results) {
  expect_count(kernel, "operands", in.size(), operands);
  expect_count(kernel, "results", out.size(), results);
  const Tensor &loss = out.begin()[0];
  expect_type(kernel, "loss", loss, kReal);
  expect_rank(kernel, "loss", loss, 0);
}

namespace {

void check_pairs(const char *kernel, Tensors in, Tensors out, bool forward) {
  if (forward) {
    check_loss(kernel, in, out, 2);
  } else {
    expect_count(kernel, "operands", in.size(), 2);
    expect_count(kernel, "results", out.size(), 1);
    expect_type(kernel, "gradient", out.begin()[0], kReal);
    expect_same_shape(kernel, "gradient", out.begin()[0], in.begin()[0]);
  }
  expect_type(kernel, "first operand", in.begin()[0], kReal);
  expect_type(kernel, "target", in.begin()[1], kReal);
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
