//===- product_shape.h - a product of tiles for the library -----*- C++ -*-===//
#ifndef FFRT_CUDA_PRODUCT_SHAPE_H
#define FFRT_CUDA_PRODUCT_SHAPE_H

#include "common/matmul/matmul_geometry.h"
#include "cuda/matmul/gemm.h"
#include "ffrt/context.h"

#include <optional>

namespace ffrt::cuda {

/// One of the products of matrices that `g` is, of operands of the type.
inline GemmShape matrix_product(const Context &cx, const MatMulGeometry &g,
                                DType operand_type) {
  GemmShape shape;
  shape.operand_type = operand_type;
  shape.tf32 = cx.tf32 && operand_type == DType::f32;
  shape.m = g.m;
  shape.n = g.n;
  shape.k = g.k;
  shape.trans_a = g.trans_a;
  shape.trans_b = g.trans_b;
  shape.pitch_a = g.pitch_a;
  shape.pitch_b = g.pitch_b;
  shape.pitch_y = g.pitch_y;
  return shape;
}

/// op(a) op(b) as one product; none if y has batch dimensions of its own.
inline std::optional<GemmShape> product_shape(const Context &cx,
                                              const Tensor &a, const Tensor &b,
                                              const Tensor &y, int64_t trans_a,
                                              int64_t trans_b) {
  const MatMulGeometry g(a, b, y, trans_a != 0, trans_b != 0);
  if (!g.batch.empty())
    return std::nullopt;
  return matrix_product(cx, g, a.type);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_PRODUCT_SHAPE_H
