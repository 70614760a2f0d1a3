//===- elementwise.cpp - element-wise kernels on equal shapes -------------===//
#include "ffrt/elementwise.h"

#include "common/check.h"

namespace ffrt {

#define FFRT_ELEMENTWISE(Name, Functor, N)                                     \
  template class Elementwise<fn::Functor, N>;
#define FFRT_DIFFERENTIABLE(Name)                                              \
  FFRT_ELEMENTWISE(Name##Forward, Name, 1)                                     \
  FFRT_ELEMENTWISE(Name##Backward, Name##Gradient, 2)
#define FFRT_BROADCAST(Name, N)
#include "ffrt/elementwise.inc"

void check_elementwise(Tensors in, Tensors out, int operands) {
  const char *kernel = "elementwise";
  expect_count(kernel, "operands", in.size(), std::size_t(operands));
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &y = out.begin()[0];
  expect_type(kernel, "result", y, DType::f32);
  for (const Tensor &x : in) {
    expect_type(kernel, "operand", x, DType::f32);
    expect_same_shape(kernel, "operand", x, y);
    expect_same_order(kernel, "operand", x, y);
  }
}

} // namespace ffrt
