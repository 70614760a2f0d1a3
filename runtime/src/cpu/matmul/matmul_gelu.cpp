//===- matmul_gelu.cpp - a product with GELU, or its gradient -------------===//
#include "common/matmul/matmul_gelu.h"

namespace ffrt {

struct MatMulGelu::Impl : ProductThenGelu {
  using ProductThenGelu::ProductThenGelu;
};

MatMulGelu::MatMulGelu(Context &cx, Tensors in, Tensors out, int64_t trans_a,
                       int64_t trans_b) {
  check_matmul_gelu(in, out);
  impl = std::make_unique<Impl>(cx, in.begin(), out.begin(), trans_a, trans_b);
}

MatMulGelu::~MatMulGelu() = default;

void MatMulGelu::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

struct MatMulGeluBackward::Impl : ProductThenGeluBackward {
  using ProductThenGeluBackward::ProductThenGeluBackward;
};

MatMulGeluBackward::MatMulGeluBackward(Context &cx, Tensors in, Tensors out,
                                       int64_t trans_a, int64_t trans_b) {
  check_matmul_gelu_backward(in, out);
  impl = std::make_unique<Impl>(cx, in.begin(), out.begin(), trans_a, trans_b);
}

MatMulGeluBackward::~MatMulGeluBackward() = default;

void MatMulGeluBackward::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

} // namespace ffrt
