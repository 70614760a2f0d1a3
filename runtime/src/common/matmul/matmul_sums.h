//===- matmul_sums.h - a product, then the sums of an operand ---*- C++ -*-===//
//
// What MatMulSums is where no library does both at once.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_MATMUL_SUMS_H
#define FFRT_COMMON_MATMUL_SUMS_H

#include "ffrt/matmul.h"
#include "ffrt/reduce.h"

namespace ffrt {

/// What MatMulSums' constructor gets. Throws Error.
void check_matmul_sums(Tensors in, Tensors out, int64_t sums_of,
                       int64_t trans_a, int64_t trans_b);

class ProductThenSums {
public:
  ProductThenSums(Context &cx, const Tensor *in, const Tensor *out,
                  double alpha, int64_t sums_of, int64_t trans_a,
                  int64_t trans_b);
  void operator()(const Tensor *in, const Tensor *out);

private:
  std::size_t summed; ///< operand
  MatMul product;
  ReduceSum sum;
};

} // namespace ffrt

#endif // FFRT_COMMON_MATMUL_SUMS_H
