//===- resize.h - interpolation on a grid of another size -------*- C++ -*-===//
//
// As ONNX's Resize, dimension by dimension: per position of the result a list
// of operand positions and weights, computed once. Type f32; the same bits for
// any number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_RESIZE_H
#define FFRT_RESIZE_H

#include "ffrt/kernel.h"

#include <memory>
#include <string>

namespace ffrt {

struct ResizePlan; ///< of the target

/// {x} -> {y}, of one order.
class Resize {
public:
  Resize(Context &cx, Tensors in, Tensors out, int64_t antialias,
         const std::string &coordinates, double cubic_coeff_a,
         int64_t exclude_outside, const std::string &mode,
         const std::string &nearest, const Reals &roi, const Reals &scales);
  void operator()(Tensors in, Tensors out);

private:
  std::shared_ptr<const ResizePlan> plan;
};

/// {dy} -> {dx}, of one order: every element gathers from those it is part of.
class ResizeBackward {
public:
  ResizeBackward(Context &cx, Tensors in, Tensors out, int64_t antialias,
                 const std::string &coordinates, double cubic_coeff_a,
                 int64_t exclude_outside, const std::string &mode,
                 const std::string &nearest, const Reals &roi,
                 const Reals &scales);
  void operator()(Tensors in, Tensors out);

private:
  std::shared_ptr<const ResizePlan> plan;
};

} // namespace ffrt

#endif // FFRT_RESIZE_H
