//===- matmul_gelu.h - a product, then GELU or its gradient -----*- C++ -*-===//
//
// What MatMulGelu and MatMulGeluBackward are where no library does both at
// once.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_MATMUL_GELU_H
#define FFRT_COMMON_MATMUL_GELU_H

#include "ffrt/elementwise.h"
#include "ffrt/matmul.h"

namespace ffrt {

/// What their constructors get. Throws Error.
void check_matmul_gelu(Tensors in, Tensors out);
void check_matmul_gelu_backward(Tensors in, Tensors out);

class ProductThenGelu {
public:
  ProductThenGelu(Context &cx, const Tensor *in, const Tensor *out,
                  int64_t trans_a, int64_t trans_b);
  void operator()(const Tensor *in, const Tensor *out);

private:
  MatMul product;
  GeluTanhForward gelu;
};

class ProductThenGeluBackward {
public:
  ProductThenGeluBackward(Context &cx, const Tensor *in, const Tensor *out,
                          int64_t trans_a, int64_t trans_b);
  void operator()(const Tensor *in, const Tensor *out);

private:
  MatMul product;
  GeluTanhBackward gradient;
};

} // namespace ffrt

#endif // FFRT_COMMON_MATMUL_GELU_H
