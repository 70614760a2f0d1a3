//===- cross_entropy.cpp - operands of cross-entropy ----------------------===//
#include "ffrt/cross_entropy.h"

#include "common/kernels/check.h"
#include "common/loss/cross_entropy.h"
#include "common/loss/loss.h"

namespace ffrt {

Nest<3> samples_of(const Tensor &logits, const Tensor &target,
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

/// Of {logits, target}, {max, sum} if `given`, and a slope if `backward`.
int check_cross_entropy(const char *kernel, Tensors in, Tensors out,
                        int64_t axis, bool backward, bool given) {
  const std::size_t statistics = given ? 4 : 2;
  check_loss(kernel, in, out, statistics + backward, backward ? 2 : 1);
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  if (backward) {
    const Tensor &slope = in.begin()[statistics], &gradient = out.begin()[1];
    if (slope.data) {
      expect_type(kernel, "slope", slope, kReal);
      expect_rank(kernel, "slope", slope, 0);
    }
    expect_same_shape(kernel, "gradient", gradient, logits);
    expect_float_pair(kernel, "logits", logits, "gradient", gradient);
  } else {
    expect_float(kernel, "logits", logits);
  }
  expect_type(kernel, "target", target, DType::i32);
  expect_row_major(kernel, "target", target);
  expect(kernel, axis >= 0 && axis < logits.rank,
         "axis: expected a dimension of the logits, found " +
             std::to_string(axis));
  expect(kernel, given || logits.shape[int(axis)] == logits.global[int(axis)],
         "axis: expected a whole class dimension, found it split");
  expect_rank(kernel, "target", target, logits.rank - 1);
  for (std::size_t i = 2; i < statistics; ++i) {
    const char *name = i == 2 ? "max" : "sum";
    expect_type(kernel, name, in.begin()[i], kReal);
    expect_row_major(kernel, name, in.begin()[i]);
    expect_same_shape(kernel, name, in.begin()[i], target);
  }
  return int(axis);
}

} // namespace

CrossEntropyForward::CrossEntropyForward(Context &, Tensors in, Tensors out,
                                         int64_t axis, double smoothing)
    : axis(check_cross_entropy("cross entropy forward", in, out, axis, false,
                               false)),
      smoothing(smoothing) {}

CrossEntropyBackward::CrossEntropyBackward(Context &, Tensors in, Tensors out,
                                           int64_t axis, double smoothing)
    : axis(check_cross_entropy("cross entropy backward", in, out, axis, true,
                               false)),
      smoothing(smoothing) {}

CrossEntropyApply::CrossEntropyApply(Context &, Tensors in, Tensors out,
                                     int64_t axis, double smoothing)
    : axis(check_cross_entropy("cross entropy apply", in, out, axis, false,
                               true)),
      smoothing(smoothing) {}

CrossEntropyBackwardApply::CrossEntropyBackwardApply(Context &, Tensors in,
                                                     Tensors out, int64_t axis,
                                                     double smoothing)
    : axis(check_cross_entropy("cross entropy backward apply", in, out, axis,
                               true, true)),
      smoothing(smoothing) {}

} // namespace ffrt
