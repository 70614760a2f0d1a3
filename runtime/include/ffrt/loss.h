//===- loss.h - loss functions ----------------------------------*- C++ -*-===//
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

/// {logits f32, target i32} -> {loss}: mean of -log softmax(logits)[target].
/// The target's dimensions are those of the logits without `axis`, the class
/// dimension, which is never split. Targets lie in [0, classes).
class CrossEntropyForward {
public:
  CrossEntropyForward(Context &cx, Tensors in, Tensors out, int64_t axis);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
};

/// {logits f32, target i32} -> {dlogits}
class CrossEntropyBackward {
public:
  CrossEntropyBackward(Context &cx, Tensors in, Tensors out, int64_t axis);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
};

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
