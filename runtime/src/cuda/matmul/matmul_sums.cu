//===- matmul_sums.cu - a product and the sums of an operand --------------===//
#include "common/matmul/matmul_sums.h"
#include "cuda/matmul/product_algorithms.h"

namespace ffrt {

using cuda::Gemm;
using cuda::GemmShape;

struct MatMulSums::Impl : cuda::ProductAlgorithms<ProductThenSums> {
  using ProductAlgorithms::ProductAlgorithms;
};

static void call_library(const Gemm &gemm, const Tensor *in,
                         const Tensor *out) {
  gemm(in[0].data, in[1].data, nullptr, nullptr, out[0].data, out[1].data);
}

MatMulSums::MatMulSums(Context &cx, Tensors in, Tensors out, double alpha,
                       int64_t sums_of, int64_t trans_a, int64_t trans_b) {
  check_matmul_sums(in, out, sums_of, trans_a, trans_b);
  auto shape = cuda::product_shape(cx, in.begin()[0], in.begin()[1],
                                   out.begin()[0], trans_a, trans_b);
  if (shape) {
    shape->alpha = float(alpha);
    if (out.begin()[0].accumulates)
      shape->addend = GemmShape::Addend::result;
    shape->sums = sums_of == 0 ? GemmShape::Sums::a : GemmShape::Sums::b;
  }
  impl = std::make_unique<Impl>(shape, call_library, cx, in, out, alpha,
                                sums_of, trans_a, trans_b);
}

MatMulSums::~MatMulSums() = default;

void MatMulSums::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

} // namespace ffrt
