//===- softmax.h - softmax --------------------------------------*- C++ -*-===//
//
// Normalised jointly over all dimensions in `axes`, which are never split.
// Type f32; all tensors of a call have one shape and order.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_SOFTMAX_H
#define FFRT_SOFTMAX_H

#include "ffrt/kernel.h"

namespace ffrt {

/// {x} -> {y}
class SoftmaxForward {
public:
  SoftmaxForward(Context &cx, Tensors in, Tensors out, const Ints &axes);
  void operator()(Tensors in, Tensors out);

private:
  bool normalised[kMaxRank] = {};
};

/// {dy, y} -> {dx}
class SoftmaxBackward {
public:
  SoftmaxBackward(Context &cx, Tensors in, Tensors out, const Ints &axes);
  void operator()(Tensors in, Tensors out);

private:
  bool normalised[kMaxRank] = {};
};

} // namespace ffrt

#endif // FFRT_SOFTMAX_H
