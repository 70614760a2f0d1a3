//===- matmul_sums.cpp - a product, then the sums of an operand -----------===//
#include "common/matmul/matmul_sums.h"

#include "common/kernels/check.h"

#include <string>

namespace ffrt {

static constexpr const char *kernel = "matmul sums";

void check_matmul_sums(Tensors in, Tensors out, int64_t sums_of,
                       int64_t trans_a, int64_t trans_b) {
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 2);
  expect(kernel, sums_of == 0 || sums_of == 1,
         "expected sums of operand 0 or 1, found " + std::to_string(sums_of));
  expect(kernel, sums_of == 0 ? trans_a != 0 : trans_b == 0,
         "expected the operand that is summed to have its own dimension last");
  expect_type(kernel, "y", out.begin()[0], kReal);
  const int rank = out.begin()[0].rank;
  expect(kernel, rank == 2,
         "expected a result of rank 2, found " + std::to_string(rank));
}

/// All dimensions of x but the last.
static Ints all_but_last(const Tensor &x) {
  Ints axes;
  for (int d = 0; d + 1 < x.rank; ++d)
    axes.push_back(d);
  return axes;
}

ProductThenSums::ProductThenSums(Context &cx, const Tensor *in,
                                 const Tensor *out, double alpha,
                                 int64_t sums_of, int64_t trans_a,
                                 int64_t trans_b)
    : summed(std::size_t(sums_of)),
      product(cx, {in[0], in[1], {}, {}}, {out[0]}, alpha, 1.0, {}, trans_a,
              trans_b),
      sum(cx, {in[summed]}, {out[1]}, all_but_last(in[summed]), 0) {}

void ProductThenSums::operator()(const Tensor *in, const Tensor *out) {
  product({in[0], in[1], {}, {}}, {out[0]});
  sum({in[summed]}, {out[1]});
}

} // namespace ffrt
