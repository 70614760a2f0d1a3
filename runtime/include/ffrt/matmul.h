//===- matmul.h - matrix product --------------------------------*- C++ -*-===//
#ifndef FFRT_MATMUL_H
#define FFRT_MATMUL_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

/// {a, b, c?, addend?} -> {y}: y[...,M,N] = alpha * op(a) * op(b) + beta *
/// broadcast(c) + addend, op(m) = transposed m when trans_m is not 0. The
/// dimensions before the last two number the matrices of a batch, aligned at
/// the last one. An operand without a batch dimension, or with 1 there, serves
/// all along it; a result is summed along it. c has at most y's rank and is
/// broadcast, aligned at the trailing dimension, over the global y; its box is
/// the part that the tile of y needs. The addend has y's shape. A part of what
/// is summed over gives a partial sum. `clamp`: bounds that y is cut to, none,
/// the lower one, or both. Row-major.
///
/// Types: a and b are f32, bf16 or f16, c and y f32 or the same, the addend is
/// f32. A y of bf16 or f16 is a sum in f32, rounded once: without addend, nor
/// sums of several products, and c is absent, or a row of y's type with alpha =
/// beta = 1. May add to what is in y (Tensor::accumulates), without c, addend
/// and bounds.
class MatMul {
public:
  MatMul(Context &cx, Tensors in, Tensors out, double alpha, double beta,
         const Reals &clamp, int64_t trans_a, int64_t trans_b);
  ~MatMul();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// {a, b} -> {y, sums}: y = alpha * op(a) * op(b) as above, where y has no
/// batch dimensions; and the sums of a (sums_of 0, a transposed) or b (1, b not
/// transposed) over all dimensions but the last. Both partial where what is
/// summed over is a part. May add to what is in y.
class MatMulSums {
public:
  MatMulSums(Context &cx, Tensors in, Tensors out, double alpha,
             int64_t sums_of, int64_t trans_a, int64_t trans_b);
  ~MatMulSums();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// {a, b, c?} -> {z?, y}: z = op(a) * op(b) + c, c a row of z, and y =
/// GeluTanh(z), z of the same shape. All have one type. Of bf16 and f16, y is
/// GELU of the sum in f32, not of z, which is that sum rounded. Libraries
/// compute GELU about as exactly as TF32: they do where Context::tf32 is set,
/// and for bf16 and f16.
class MatMulGelu {
public:
  MatMulGelu(Context &cx, Tensors in, Tensors out, int64_t trans_a,
             int64_t trans_b);
  ~MatMulGelu();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// {a, b, z} -> {dz}: dz = GeluTanhGradient(op(a) * op(b), z), as above; of
/// bf16 and f16, it is rounded once.
class MatMulGeluBackward {
public:
  MatMulGeluBackward(Context &cx, Tensors in, Tensors out, int64_t trans_a,
                     int64_t trans_b);
  ~MatMulGeluBackward();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_MATMUL_H
