//===- matmul_gelu.cu - a product with GELU, or its gradient --------------===//
#include "common/matmul/matmul_gelu.h"
#include "cuda/matmul/product_algorithms.h"

namespace ffrt {

using cuda::Gemm;
using cuda::GemmShape;

/// The product, whose sums go to `y`. The library's GELU is not exact in f32.
static std::optional<GemmShape> gelu_shape(const Context &cx, Tensors in,
                                           const Tensor &y,
                                           GemmShape::Gelu gelu,
                                           int64_t trans_a, int64_t trans_b) {
  if (!cx.tf32)
    return std::nullopt;
  auto shape = cuda::product_shape(cx, in.begin()[0], in.begin()[1], y, trans_a,
                                   trans_b);
  if (shape)
    shape->gelu = gelu;
  return shape;
}

//===----------------------------------------------------------------------===//
// MatMulGelu
//===----------------------------------------------------------------------===//

struct MatMulGelu::Impl : cuda::ProductAlgorithms<ProductThenGelu> {
  using ProductAlgorithms::ProductAlgorithms;
};

static void call_for_gelu(const Gemm &gemm, const Tensor *in,
                          const Tensor *out) {
  gemm(in[0].data, in[1].data, in[2].data, nullptr, out[1].data,
       out[0].as<float>());
}

MatMulGelu::MatMulGelu(Context &cx, Tensors in, Tensors out, int64_t trans_a,
                       int64_t trans_b) {
  check_matmul_gelu(in, out);
  const bool keeps = out.begin()[0].data != nullptr;
  auto shape = gelu_shape(cx, in, out.begin()[1],
                          keeps ? GemmShape::Gelu::forward_kept
                                : GemmShape::Gelu::forward,
                          trans_a, trans_b);
  if (shape)
    shape->row = in.begin()[2].data != nullptr;
  impl = std::make_unique<Impl>(shape, call_for_gelu, cx, in, out, trans_a,
                                trans_b);
}

MatMulGelu::~MatMulGelu() = default;

void MatMulGelu::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

//===----------------------------------------------------------------------===//
// MatMulGeluBackward
//===----------------------------------------------------------------------===//

struct MatMulGeluBackward::Impl
    : cuda::ProductAlgorithms<ProductThenGeluBackward> {
  using ProductAlgorithms::ProductAlgorithms;
};

static void call_for_gradient(const Gemm &gemm, const Tensor *in,
                              const Tensor *out) {
  gemm(in[0].data, in[1].data, nullptr, nullptr, out[0].data,
       in[2].as<float>());
}

MatMulGeluBackward::MatMulGeluBackward(Context &cx, Tensors in, Tensors out,
                                       int64_t trans_a, int64_t trans_b) {
  check_matmul_gelu_backward(in, out);
  const auto shape = gelu_shape(cx, in, out.begin()[0],
                                GemmShape::Gelu::backward, trans_a, trans_b);
  impl = std::make_unique<Impl>(shape, call_for_gradient, cx, in, out, trans_a,
                                trans_b);
}

MatMulGeluBackward::~MatMulGeluBackward() = default;

void MatMulGeluBackward::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

} // namespace ffrt
