//===- conv_dnnl.h - the sub-convolution of a tile for oneDNN ---*- C++ -*-===//
#ifndef FFRT_CPU_CONV_DNNL_H
#define FFRT_CPU_CONV_DNNL_H

#include "common/conv/conv_problem.h"
#include "cpu/kernels/dnnl.h"

namespace ffrt {

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

/// In oneDNN's convention neighbours have the dilation 0.
dnnl::memory::dims dilations_of(const ConvProblem &problem);

/// The layout of the weights' tensor, or with `any` a free one.
dnnl::memory::desc weights_of(const ConvProblem &problem, const Tensor &w,
                              bool any);

/// Should the gradient of the input let oneDNN choose the images' layout? In
/// channels-last order, pixels of `dy` a multiple of 2 KB apart share few sets
/// of the first-level cache, which cannot hold the row of pixels that oneDNN
/// works on: half the speed and less. Copies cost 1 to 4 per cent.
bool wants_blocks(const ConvProblem &problem, const Tensor &w,
                  const Tensor &dy);

} // namespace ffrt

#endif // FFRT_CPU_CONV_DNNL_H
