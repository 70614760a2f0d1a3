//===- conv_problem.h - the sub-convolution of a tile -----------*- C++ -*-===//
//
// What the three convolution kernels have in common: checks, and the local
// problem that a tile's boxes stand for. An image of one spatial dimension is
// one of two with a single row.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_CONV_PROBLEM_H
#define FFRT_COMMON_CONV_PROBLEM_H

#include "common/conv/conv_geometry.h"
#include "ffrt/kernel.h"

#include <array>

namespace ffrt {

/// A tensor of rank 3 as one of rank 4 with one row; others unchanged.
Tensor with_row(const Tensor &t);

/// Attributes of a convolution, over two or three spatial dimensions.
struct ConvAttributes {
  Ints dilations, pads, strides;
  int64_t group;

  /// Attributes of the operator whose image is `x`, of any rank; checks their
  /// lengths.
  ConvAttributes(const char *kernel, const Tensor &x, const Ints &dilations,
                 int64_t group, const Ints &pads, const Ints &strides);
};

/// The local problem of one tile, of tensors of rank 4 or 5.
struct ConvProblem {
  int spatial;
  int64_t groups;
  Ints strides, dilations, pads_begin, pads_end;
  std::array<Rows, 3> in, out; ///< of x and of y
  bool nothing;                ///< no window meets the tile's input

  ConvProblem(const char *kernel, const Tensor &x, const Tensor &w,
              const Tensor &y, bool backward, const ConvAttributes &attributes);
};

/// The types of what a kernel's constructor gets: two operands, perhaps a bias,
/// and a result, by their names. An image may have the type of the operands.
/// Throws Error.
void check_conv(const char *kernel, std::initializer_list<const char *> names,
                Tensors in, const char *result, Tensors out,
                bool is_image = true);

} // namespace ffrt

#endif // FFRT_COMMON_CONV_PROBLEM_H
