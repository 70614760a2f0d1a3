//===- matmul_gelu.cpp - a product, then GELU or its gradient -------------===//
#include "common/matmul/matmul_gelu.h"

#include "common/elementwise/cast.h"
#include "common/kernels/check.h"
#include "common/matmul/matmul_geometry.h"

#include <string>

namespace ffrt {

static constexpr const char *kernel = "matmul gelu";

/// What is written is f32 or, as the operands of the product, narrower.
static void expect_result_type(const char *name, const Tensor &result,
                               const Tensor &a) {
  expect_type(kernel, name, result, is_low_precision(a.type) ? a.type : kReal);
}

void check_matmul_gelu(Tensors in, Tensors out) {
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 2);
  const Tensor &a = in.begin()[0], &c = in.begin()[2], &z = out.begin()[0],
               &y = out.begin()[1];
  expect_result_type("y", y, a);
  if (z.data) {
    expect_result_type("z", z, a);
    expect_same_shape(kernel, "z", z, y);
  }
  if (!c.data)
    return;
  expect_result_type("c", c, a);
  const int64_t columns = y.rank == 0 ? 1 : y.shape[y.rank - 1];
  expect(kernel, is_row(c, columns),
         "c: expected a row of " + std::to_string(columns) +
             ", found local shape " + to_string(c.rank, c.shape));
}

void check_matmul_gelu_backward(Tensors in, Tensors out) {
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &a = in.begin()[0], &z = in.begin()[2], &dz = out.begin()[0];
  expect_result_type("dz", dz, a);
  expect_result_type("z", z, a);
  expect_same_shape(kernel, "z", z, dz);
}

/// What holds the product of results that lie as `like`, which is where it goes
/// if that is f32.
static Tensor sum_like(const Tensor &like) {
  Tensor sum = like;
  if (is_low_precision(like.type)) {
    sum.type = kReal;
    reserve_wide_sums(std::size_t(like.span()) * sizeof(float));
    sum.data = wide_sums();
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Where nobody needs the product, it is where GELU goes.
static Tensor sum_of(const Tensor *out) {
  return sum_like(out[0].data ? out[0] : out[1]);
}

/// A row of f32 is added by the product.
static Tensor row_of_product(const Tensor *in) {
  return is_low_precision(in[0].type) ? Tensor() : in[2];
}

ProductThenGelu::ProductThenGelu(Context &cx, const Tensor *in,
                                 const Tensor *out, int64_t trans_a,
                                 int64_t trans_b)
    : product(cx, {in[0], in[1], row_of_product(in), {}}, {sum_of(out)}, 1.0,
              1.0, {}, trans_a, trans_b) {
  if (!is_low_precision(out[1].type))
    gelu.emplace(cx, Tensors{sum_of(out)}, Tensors{out[1]});
}

void ProductThenGelu::operator()(const Tensor *in, const Tensor *out) {
  const Tensor sum = sum_of(out);
  product({in[0], in[1], row_of_product(in), {}}, {sum});
  if (gelu)
    (*gelu)({sum}, {out[1]});
  else
    finish_gelu(sum.as<float>(), in[2], out[0], out[1]);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

ProductThenGeluBackward::ProductThenGeluBackward(Context &cx, const Tensor *in,
                                                 const Tensor *out,
                                                 int64_t trans_a,
                                                 int64_t trans_b)
    : product(cx, {in[0], in[1], {}, {}}, {sum_like(out[0])}, 1.0, 1.0, {},
              trans_a, trans_b) {
  if (!is_low_precision(out[0].type))
    gradient.emplace(cx, Tensors{out[0], in[2]}, Tensors{out[0]});
}

void ProductThenGeluBackward::operator()(const Tensor *in, const Tensor *out) {
  const Tensor sum = sum_like(out[0]);
  product({in[0], in[1], {}, {}}, {sum});
  if (gradient)
    (*gradient)({sum, in[2]}, {out[0]});
  else
    finish_gelu_gradient(sum.as<float>(), in[2], out[0]);
}

} // namespace ffrt
