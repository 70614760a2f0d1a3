//===- matmul_gelu.cpp - a product, then GELU or its gradient -------------===//
#include "common/matmul/matmul_gelu.h"

#include "common/kernels/check.h"
#include "common/matmul/matmul_geometry.h"

#include <string>

namespace ffrt {

static constexpr const char *kernel = "matmul gelu";

void check_matmul_gelu(Tensors in, Tensors out) {
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 2);
  const Tensor &c = in.begin()[2], &z = out.begin()[0], &y = out.begin()[1];
  expect_type(kernel, "y", y, kReal);
  if (z.data) {
    expect_type(kernel, "z", z, kReal);
    expect_same_shape(kernel, "z", z, y);
  }
  if (!c.data)
    return;
  expect_type(kernel, "c", c, kReal);
  const int64_t columns = y.rank == 0 ? 1 : y.shape[y.rank - 1];
  expect(kernel, is_row(c, columns),
         "c: expected a row of " + std::to_string(columns) +
             ", found local shape " + to_string(c.rank, c.shape));
}

void check_matmul_gelu_backward(Tensors in, Tensors out) {
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &z = in.begin()[2], &dz = out.begin()[0];
  expect_type(kernel, "dz", dz, kReal);
  expect_type(kernel, "z", z, kReal);
  expect_same_shape(kernel, "z", z, dz);
}

/// Where the product is, if nobody needs it: where GELU goes.
static const Tensor &sum_of(const Tensor *out) {
  return out[0].data ? out[0] : out[1];
}

ProductThenGelu::ProductThenGelu(Context &cx, const Tensor *in,
                                 const Tensor *out, int64_t trans_a,
                                 int64_t trans_b)
    : product(cx, {in[0], in[1], in[2], {}}, {sum_of(out)}, 1.0, 1.0, {},
              trans_a, trans_b),
      gelu(cx, {sum_of(out)}, {out[1]}) {}

void ProductThenGelu::operator()(const Tensor *in, const Tensor *out) {
  product({in[0], in[1], in[2], {}}, {sum_of(out)});
  gelu({sum_of(out)}, {out[1]});
}

ProductThenGeluBackward::ProductThenGeluBackward(Context &cx, const Tensor *in,
                                                 const Tensor *out,
                                                 int64_t trans_a,
                                                 int64_t trans_b)
    : product(cx, {in[0], in[1], {}, {}}, {out[0]}, 1.0, 1.0, {}, trans_a,
              trans_b),
      gradient(cx, {out[0], in[2]}, {out[0]}) {}

void ProductThenGeluBackward::operator()(const Tensor *in, const Tensor *out) {
  product({in[0], in[1], {}, {}}, {out[0]});
  gradient({out[0], in[2]}, {out[0]});
}

} // namespace ffrt
