//===- check_elementwise.cpp - operands of element-wise kernels -----------===//
#include "common/elementwise/check_elementwise.h"

#include "common/kernels/check.h"

namespace ffrt {

void check_elementwise(Tensors in, Tensors out, int operands) {
  const char *kernel = "elementwise";
  expect_count(kernel, "operands", in.size(), std::size_t(operands));
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &y = out.begin()[0];
  expect_type(kernel, "result", y, kReal);
  for (const Tensor &x : in) {
    expect_type(kernel, "operand", x, kReal);
    expect_same_shape(kernel, "operand", x, y);
    expect_same_order(kernel, "operand", x, y);
  }
}

Index broadcast_strides(const Tensor &x, int rank) {
  Index own = x.strides(), result;
  for (int d = rank - x.rank; d < rank; ++d) {
    int from = d - (rank - x.rank);
    result[d] = x.shape[from] == 1 ? 0 : own[from];
  }
  return result;
}

static void expect_broadcasts(const char *kernel, const Tensor &x,
                              const Tensor &y) {
  expect(kernel, x.rank <= y.rank,
         "expected an operand of rank at most " + std::to_string(y.rank) +
             ", found " + std::to_string(x.rank));
  for (int d = 0; d < x.rank; ++d) {
    int to = d + y.rank - x.rank;
    expect(kernel, x.shape[d] == y.shape[to] || x.shape[d] == 1,
           "expected an operand that broadcasts to local shape " +
               to_string(y.rank, y.shape) + ", found " +
               to_string(x.rank, x.shape));
  }
}

void check_broadcast(const char *kernel, Tensors in, Tensors out,
                     std::size_t operands) {
  expect_count(kernel, "operands", in.size(), operands);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &y = out.begin()[0];
  for (const Tensor &x : in) {
    expect_type(kernel, "operand", x, y.type);
    expect_broadcasts(kernel, x, y);
  }
}

void check_fused(Tensors in, Tensors out, DTypes operands, DTypes results) {
  const char *kernel = "fused";
  expect(kernel, operands.size() <= kMaxFused && results.size() <= kMaxFused,
         "expected at most " + std::to_string(kMaxFused) +
             " operands and results, found " + std::to_string(operands.size()) +
             " and " + std::to_string(results.size()));
  expect_count(kernel, "operands", in.size(), operands.size());
  expect_count(kernel, "results", out.size(), results.size());
  const Tensor &y = out.begin()[0];
  const DType *type = operands.begin();
  for (const Tensor &x : in) {
    expect_type(kernel, "operand", x, *type++);
    expect_broadcasts(kernel, x, y);
  }
  type = results.begin();
  for (const Tensor &result : out) {
    expect_type(kernel, "result", result, *type++);
    expect_same_shape(kernel, "result", result, y);
    expect_same_order(kernel, "result", result, y);
  }
  for (const Tensor &x : in)
    if (x.is_pitched() || y.is_pitched()) {
      expect_same_shape(kernel, "operand of a pitched result", x, y);
      expect_same_order(kernel, "operand", x, y);
    }
}

Tensor as_walked(const Tensor &t) {
  if (!t.is_pitched())
    return t;
  Tensor line = t;
  line.order = Order::row_major;
  line.rank = 1;
  line.shape = line.global = {t.span()};
  line.lo = {};
  return line;
}

} // namespace ffrt
