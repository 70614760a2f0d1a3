//===- lrn.cpp - operands of local response normalisation -----------------===//
#include "common/normalize/lrn.h"

#include "common/kernels/check.h"

namespace ffrt {

namespace {

void check_lrn(const char *kernel, const char *operand, const Tensor &t,
               const Tensor &like) {
  expect_type(kernel, operand, t, kReal);
  expect_rank(kernel, operand, t, like.rank);
  expect_same_order(kernel, operand, t, like);
  bool same = t.rank >= 2;
  for (int d = 0; same && d < t.rank; ++d)
    same = d == 1 || t.shape[d] == like.shape[d];
  expect(kernel, same,
         std::string(operand) + ": expected local shape " +
             to_string(like.rank, like.shape) +
             " apart from the channels, found " + to_string(t.rank, t.shape));
}

LrnWindow window_of(const char *kernel, double factor, double beta, double bias,
                    int64_t size) {
  expect(kernel, size >= 1,
         "size: expected a positive number, found " + std::to_string(size));
  return {Real(factor / double(size)), Real(beta), Real(bias), (size - 1) / 2,
          size / 2};
}

} // namespace

LrnForward::LrnForward(Context &, Tensors in, Tensors out, double alpha,
                       double beta, double bias, int64_t size)
    : LrnWindow(window_of("lrn forward", alpha, beta, bias, size)) {
  const char *kernel = "lrn forward";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 2);
  const Tensor &x = in.begin()[0], &y = out.begin()[0], &scale = out.begin()[1];
  check_lrn(kernel, "operand", x, y);
  expect_type(kernel, "result", y, kReal);
  if (scale.data) {
    check_lrn(kernel, "scale", scale, y);
    expect_same_shape(kernel, "scale", scale, y);
  }
}

LrnWindow check_lrn_backward(Tensors in, Tensors out, double alpha, double beta,
                             double bias, int64_t size) {
  const char *kernel = "lrn backward";
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &dy = in.begin()[0], &dx = out.begin()[0];
  expect_type(kernel, "result", dx, kReal);
  check_lrn(kernel, "dy", dy, dx);
  for (int i = 1; i < 3; ++i) {
    check_lrn(kernel, i == 1 ? "x" : "scale", in.begin()[i], dx);
    expect_same_shape(kernel, i == 1 ? "x" : "scale", in.begin()[i], dy);
  }
  return window_of(kernel, 2.0 * alpha * beta, beta, bias, size);
}

} // namespace ffrt
