//===- matmul_gelu.h - a product, then GELU or its gradient -----*- C++ -*-===//
//
// What MatMulGelu and MatMulGeluBackward are where no library does both at
// once. Where results are bf16 or f16, the product is written in f32 to memory
// that all such kernels of the process share, and rounded after GELU.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_MATMUL_GELU_H
#define FFRT_COMMON_MATMUL_GELU_H

#include "ffrt/elementwise.h"
#include "ffrt/matmul.h"

#include <cstddef>
#include <optional>

namespace ffrt {

/// What their constructors get. Throws Error.
void check_matmul_gelu(Tensors in, Tensors out);
void check_matmul_gelu_backward(Tensors in, Tensors out);

/// Memory for that. It grows while kernels are made, never in a call.
void reserve_wide_sums(std::size_t bytes);
float *wide_sums();

/// z = sum + c and y = GeluTanh(sum + c), both rounded to their type. c, a row
/// of that type, and z may be absent. What is in `sum` is lost.
void finish_gelu(float *sum, const Tensor &c, const Tensor &z, const Tensor &y);
/// dz = GeluTanhGradient(sum, z), rounded.
void finish_gelu_gradient(const float *sum, const Tensor &z, const Tensor &dz);

class ProductThenGelu {
public:
  ProductThenGelu(Context &cx, const Tensor *in, const Tensor *out,
                  int64_t trans_a, int64_t trans_b);
  void operator()(const Tensor *in, const Tensor *out);

private:
  MatMul product;
  std::optional<GeluTanhForward> gelu; ///< of f32
};

class ProductThenGeluBackward {
public:
  ProductThenGeluBackward(Context &cx, const Tensor *in, const Tensor *out,
                          int64_t trans_a, int64_t trans_b);
  void operator()(const Tensor *in, const Tensor *out);

private:
  MatMul product;
  std::optional<GeluTanhBackward> gradient; ///< of f32
};

} // namespace ffrt

#endif // FFRT_COMMON_MATMUL_GELU_H
