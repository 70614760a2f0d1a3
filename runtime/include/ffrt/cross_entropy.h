//===- cross_entropy.h - losses of classes ----------------------*- C++ -*-===//
//
// As kernels of ffrt/loss.h. The target is row-major and has the dimensions of
// the logits without `axis`, the class dimension; so have maxima and sums. It
// lies in [0, classes). Logits and dlogits are each f32, bf16 or f16, of at
// most one type besides f32 in a call: all is computed in f32, and dlogits are
// rounded once. Those that have the logits' type and order may lie in their
// memory.
//
// With a smoothing s, a target is 1 - s of its class and s / classes of every
// class: the loss of a sample is log(sum of exp(logits)) less the logits' mean
// by these shares, and its gradient softmax(logits) less the shares.
//
// A class dimension that is split, a vocabulary for instance, needs kernels
// that compute the maximum and the sum of a tile, which are combined over the
// tiles before the next kernel reads them.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CROSS_ENTROPY_H
#define FFRT_CROSS_ENTROPY_H

#include "ffrt/softmax.h"

namespace ffrt {

/// {logits, target i32} -> {loss}: mean of -log softmax(logits)[target].
/// `axis` is whole.
class CrossEntropyForward {
public:
  CrossEntropyForward(Context &cx, Tensors in, Tensors out, int64_t axis,
                      double smoothing = 0);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
  double smoothing;
};

/// {logits, target i32, slope} -> {loss, dlogits}. `axis` is whole. Gradients
/// are those of the loss times the slope, a number or absent; the loss may be
/// absent, and is what it is without a slope.
class CrossEntropyBackward {
public:
  CrossEntropyBackward(Context &cx, Tensors in, Tensors out, int64_t axis,
                       double smoothing = 0);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
  double smoothing;
};

/// {logits} -> {max}
class CrossEntropyMax : public SoftmaxMax {
public:
  CrossEntropyMax(Context &cx, Tensors in, Tensors out, int64_t axis,
                  double = 0)
      : SoftmaxMax(cx, in, out, {axis}, 0) {}
};

/// {logits, max} -> {sum of exp(logits - max)}
class CrossEntropySum : public SoftmaxSum {
public:
  CrossEntropySum(Context &cx, Tensors in, Tensors out, int64_t axis,
                  double = 0)
      : SoftmaxSum(cx, in, out, {axis}, 0) {}
};

/// {logits, target i32, max, sum} -> {loss}: of the samples whose target is
/// a class of the tile; with a smoothing, the tile's share of the others', too.
class CrossEntropyApply {
public:
  CrossEntropyApply(Context &cx, Tensors in, Tensors out, int64_t axis,
                    double smoothing = 0);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
  double smoothing;
};

/// {logits, target i32, max, sum, slope} -> {loss, dlogits}: the loss as above.
class CrossEntropyBackwardApply {
public:
  CrossEntropyBackwardApply(Context &cx, Tensors in, Tensors out, int64_t axis,
                            double smoothing = 0);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
  double smoothing;
};

} // namespace ffrt

#endif // FFRT_CROSS_ENTROPY_H
