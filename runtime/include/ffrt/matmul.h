//===- matmul.h - matrix product --------------------------------*- C++ -*-===//
#ifndef FFRT_MATMUL_H
#define FFRT_MATMUL_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

/// y[M,N] = alpha * op(a) * op(b) + beta * broadcast(c), op(m) = transposed m
/// when trans_m is not 0. c has rank 0 to 2 and is broadcast, aligned at the
/// trailing dimension, over the global [M,N]; its box is the part that the tile
/// of y needs. A part of the contracted dimension gives a partial sum. Type
/// f32, row-major.
class MatMul {
public:
  MatMul(Context &cx, Tensors in, Tensors out, double alpha, double beta,
         int64_t trans_a, int64_t trans_b);
  ~MatMul();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_MATMUL_H
