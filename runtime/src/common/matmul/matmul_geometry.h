//===- matmul_geometry.h - a product of tiles as matrices -------*- C++ -*-===//
//
// Two kinds of batch dimension become part of the matrices: one that only b
// lacks is more rows (a linear layer), one that only y lacks is more depth (its
// weight gradient). Others that y lacks are a loop of products that add up.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_MATMUL_GEOMETRY_H
#define FFRT_COMMON_MATMUL_GEOMETRY_H

#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <cstddef>
#include <vector>

namespace ffrt {

/// A dimension of the batch; an operand's stride is 0 where it lacks it.
struct BatchDim {
  int64_t extent, a, b, y; ///< strides in elements
};

/// The product on a tile, with as much of the batch as possible in m and k.
struct MatMulGeometry {
  int64_t m, n, k;
  /// Elements from one row of a matrix, as it lies in memory, to the next.
  int64_t pitch_a, pitch_b, pitch_y;
  bool trans_a, trans_b;
  std::vector<BatchDim> batch; ///< outermost first

  /// Throws Error unless the shapes fit.
  MatMulGeometry(const Tensor &a, const Tensor &b, const Tensor &y,
                 bool trans_a, bool trans_b);

  /// Number of outermost dimensions that are a loop of calls.
  std::size_t loops() const;

private:
  void merge();
  void absorb();
};

/// Strides of c along the dimensions of y; zero where it is broadcast.
Index addend_strides(const Tensor &c, int rank);
/// True if `c` is a row that is added to every row of n columns.
bool is_row(const Tensor &c, int64_t n);
/// What MatMul's constructor gets: before and after its geometry is known.
/// Throws Error.
void check_matmul(Tensors in, Tensors out);
void check_addends(const MatMulGeometry &geometry, Tensors in, const Tensor &y,
                   Real alpha, Real beta);

} // namespace ffrt

#endif // FFRT_COMMON_MATMUL_GEOMETRY_H
