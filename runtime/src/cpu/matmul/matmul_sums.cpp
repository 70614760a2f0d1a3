//===- matmul_sums.cpp - a product and the sums of an operand -------------===//
#include "common/matmul/matmul_sums.h"

namespace ffrt {

struct MatMulSums::Impl : ProductThenSums {
  using ProductThenSums::ProductThenSums;
};

MatMulSums::MatMulSums(Context &cx, Tensors in, Tensors out, double alpha,
                       int64_t sums_of, int64_t trans_a, int64_t trans_b) {
  check_matmul_sums(in, out, sums_of, trans_a, trans_b);
  impl = std::make_unique<Impl>(cx, in.begin(), out.begin(), alpha, sums_of,
                                trans_a, trans_b);
}

MatMulSums::~MatMulSums() = default;

void MatMulSums::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

} // namespace ffrt
