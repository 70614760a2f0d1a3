//===- conv_problem.h - the sub-convolution of a tile -----------*- C++ -*-===//
//
// What the three convolution kernels have in common: checks, and the local
// problem that a tile's boxes stand for. An image of one spatial dimension is
// one of two with a single row.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_CONV_PROBLEM_H
#define FFRT_CPU_CONV_PROBLEM_H

#include "cpu/conv_geometry.h"
#include "cpu/dnnl.h"
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

/// A part of an activation that oneDNN can work on: the tensor itself, or a
/// copy when the part is smaller than the tensor.
class Part {
public:
  /// `rows[d]` of spatial dimension d of `whole`, which has rank 4 or 5.
  Part(const Tensor &whole, const std::array<Rows, 3> &rows);

  dnnl::memory::desc desc() const;
  /// The primitive gets the part in the layout `chosen`, in shared memory
  /// number `slot` (see Converted).
  void convert(const dnnl::memory::desc &chosen, Converted::Direction direction,
               int slot);
  /// What the primitive gets.
  const dnnl::memory &argument() const { return converted.argument(); }

  /// Before a primitive reads the part.
  void read(const Tensor &whole);
  /// Before a primitive writes the part.
  void prepare(const Tensor &whole);
  /// After it did: the rest of the tensor is zero.
  void write(const Tensor &whole);

private:
  Tensor part;
  Index at;
  bool same = true;
  std::vector<float> scratch;
  Converted converted;
};

/// The local problem of one tile, of tensors of rank 4 or 5.
struct ConvProblem {
  int spatial;
  int64_t groups;
  /// In oneDNN's conventions.
  dnnl::memory::dims strides, dilations, pads_begin, pads_end;
  std::array<Rows, 3> in, out; ///< of x and of y
  bool nothing;                ///< no window meets the tile's input

  ConvProblem(const char *kernel, const Tensor &x, const Tensor &w,
              const Tensor &y, bool backward, const ConvAttributes &attributes);

  /// The layout of the weights' tensor, or with `any` a free one.
  dnnl::memory::desc weights(const Tensor &w, bool any) const;
  /// Should the gradient of the input let oneDNN choose the images' layout? In
  /// channels-last order, pixels of `dy` a multiple of 2 KB apart share few
  /// sets of the first-level cache, which cannot hold the row of pixels that
  /// oneDNN works on: half the speed and less. Copies cost 1 to 4 per cent.
  bool wants_blocks(const Tensor &w, const Tensor &dy) const;
};

} // namespace ffrt

#endif // FFRT_CPU_CONV_PROBLEM_H
