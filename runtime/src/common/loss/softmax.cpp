//===- softmax.cpp - operands of softmax ----------------------------------===//
#include "ffrt/softmax.h"

#include "common/kernels/check.h"
#include "common/loss/softmax.h"

namespace ffrt {

/// Distances in a tensor that lacks the normalised dimensions, and its size.
static Index strides_without(const Tensor &x, const bool *normalised,
                             int64_t &elements) {
  Index strides;
  elements = 1;
  for (int d = x.rank - 1; d >= 0; --d)
    if (!normalised[d]) {
      strides[d] = elements;
      elements *= x.shape[d];
    }
  return strides;
}

Nest<2> softmax_nest(const Tensor &x, const bool *normalised, bool which) {
  Index shape;
  for (int d = 0; d < x.rank; ++d)
    shape[d] = normalised[d] == which ? x.shape[d] : 1;
  int64_t elements;
  return Nest<2>(x.rank, shape,
                 {x.strides(), strides_without(x, normalised, elements)});
}

namespace {

/// The first `whole` operands have x's shape, the others lack the normalised
/// dimensions; `kept` tells which of these the result is like. With `narrow`, x
/// is a factor.
void check(const char *kernel, Tensors in, Tensors out, std::size_t whole,
           std::size_t all, bool kept, const bool *normalised,
           bool narrow = false) {
  expect_count(kernel, "operands", in.size(), all);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = in.begin()[0];
  auto check_one = [&](const char *name, const Tensor &t, bool is_whole) {
    if (narrow && is_whole)
      expect_float(kernel, name, t);
    else
      expect_type(kernel, name, t, kReal);
    if (is_whole) {
      expect_same_shape(kernel, name, t, x);
      expect_same_order(kernel, name, t, x);
      return;
    }
    int64_t elements;
    strides_without(x, normalised, elements);
    expect_row_major(kernel, name, t);
    expect(kernel, t.elements() == elements,
           std::string(name) + ": expected " + std::to_string(elements) +
               " elements, found " + std::to_string(t.elements()));
  };
  for (std::size_t i = 0; i < all; ++i)
    check_one("operand", in.begin()[i], i < whole);
  check_one("result", out.begin()[0], !kept);
}

void expect_whole(const char *kernel, const Tensor &x, const Ints &axes) {
  for (int64_t axis : axes)
    expect(kernel, x.shape[int(axis)] == x.global[int(axis)],
           "axes: expected whole dimensions, found dimension " +
               std::to_string(axis) + " split");
}

} // namespace

SoftmaxKernel::SoftmaxKernel(const Tensor &x, const Ints &axes, int64_t log)
    : log(log != 0) {
  for (int64_t axis : axes) {
    expect("softmax", axis >= 0 && axis < x.rank,
           "axes: expected dimensions of the operand, found " +
               std::to_string(axis));
    normalised[axis] = true;
  }
}

SoftmaxForward::SoftmaxForward(Context &, Tensors in, Tensors out,
                               const Ints &axes, int64_t log)
    : SoftmaxKernel(*out.begin(), axes, log) {
  check("softmax forward", in, out, 1, 1, false, normalised);
  expect_whole("softmax forward", *in.begin(), axes);
}

SoftmaxMax::SoftmaxMax(Context &, Tensors in, Tensors out, const Ints &axes,
                       int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax max", in, out, 1, 1, true, normalised, /*narrow=*/true);
}

SoftmaxSum::SoftmaxSum(Context &, Tensors in, Tensors out, const Ints &axes,
                       int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax sum", in, out, 1, 2, true, normalised, /*narrow=*/true);
}

SoftmaxApply::SoftmaxApply(Context &, Tensors in, Tensors out, const Ints &axes,
                           int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax apply", in, out, 1, 3, false, normalised);
}

SoftmaxBackward::SoftmaxBackward(Context &, Tensors in, Tensors out,
                                 const Ints &axes, int64_t log)
    : SoftmaxKernel(*out.begin(), axes, log) {
  check("softmax backward", in, out, 2, 2, false, normalised);
  expect_whole("softmax backward", *in.begin(), axes);
}

SoftmaxBackwardSum::SoftmaxBackwardSum(Context &, Tensors in, Tensors out,
                                       const Ints &axes, int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax backward sum", in, out, 2, 2, true, normalised);
}

SoftmaxBackwardApply::SoftmaxBackwardApply(Context &, Tensors in, Tensors out,
                                           const Ints &axes, int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax backward apply", in, out, 2, 3, false, normalised);
}

} // namespace ffrt
