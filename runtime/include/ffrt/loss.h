//===- loss.h - losses element by element -----------------------*- C++ -*-===//
//
// A forward kernel gives the tile's share (rank 0, f32, accumulated in f64) of
// the mean over the global target elements; shares of disjoint tiles add up to
// the loss. A backward kernel gives the gradient of that mean.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_LOSS_H
#define FFRT_LOSS_H

#include "ffrt/kernel.h"

namespace ffrt {

/// {y f32, target f32} -> {loss}: mean of (y - target)^2. Orders may differ.
class MseForward {
public:
  MseForward(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

/// {y f32, target f32} -> {dy}
class MseBackward {
public:
  MseBackward(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

/// {logits f32, target f32} -> {loss}: mean binary cross-entropy of
/// sigmoid(logits), computed from the logits so that it does not overflow.
class BceForward {
public:
  BceForward(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

/// {logits f32, target f32} -> {dlogits}
class BceBackward {
public:
  BceBackward(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

} // namespace ffrt

#endif // FFRT_LOSS_H
