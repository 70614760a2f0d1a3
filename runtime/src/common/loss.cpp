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

Nest<3> loss_samples(const Tensor &logits, const Tensor &target,
                     const Tensor &gradient, int axis) {
  const Index l = logits.strides(), g = gradient.strides();
  Index ls, gs;
  for (int d = 0; d < target.rank; ++d) {
    ls[d] = l[d + (d >= axis)];
    gs[d] = g[d + (d >= axis)];
  }
  return Nest<3>(target.rank, target.shape, {target.strides(), ls, gs});
}

namespace {

void check_loss(const char *kernel, Tensors in, Tensors out, bool forward) {
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &result = out.begin()[0];
  expect_type(kernel, "first operand", in.begin()[0], DType::f32);
  expect_type(kernel, "result", result, DType::f32);
  if (forward)
    expect_rank(kernel, "result", result, 0);
  else
    expect_same_shape(kernel, "result", result, in.begin()[0]);
}

int check_cross_entropy(const char *kernel, Tensors in, Tensors out,
                        int64_t axis, bool forward) {
  check_loss(kernel, in, out, forward);
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  expect_type(kernel, "target", target, DType::i32);
  expect(kernel, axis >= 0 && axis < logits.rank,
         "axis: expected a dimension of the logits, found " +
             std::to_string(axis));
  expect(kernel, logits.shape[int(axis)] == logits.global[int(axis)],
         "axis: expected a whole class dimension, found it split");
  expect_rank(kernel, "target", target, logits.rank - 1);
  return int(axis);
}

void check_pairs(const char *kernel, Tensors in, Tensors out, bool forward) {
  check_loss(kernel, in, out, forward);
  expect_type(kernel, "target", in.begin()[1], DType::f32);
  expect_same_shape(kernel, "target", in.begin()[1], in.begin()[0]);
}

} // namespace

CrossEntropyForward::CrossEntropyForward(Context &, Tensors in, Tensors out,
                                         int64_t axis)
    : axis(check_cross_entropy("cross entropy forward", in, out, axis, true)) {}

CrossEntropyBackward::CrossEntropyBackward(Context &, Tensors in, Tensors out,
                                           int64_t axis)
    : axis(check_cross_entropy("cross entropy backward", in, out, axis,
                               false)) {}

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
