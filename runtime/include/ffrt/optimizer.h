//===- optimizer.h - parameter updates --------------------------*- C++ -*-===//
//
// {w, g, scale?, slots...} -> {w, slots..., rounded?}, in place but for
// rounded, f32, one shape and order but for scale, one or two elements: what
// the gradient g is multiplied by, and how many steps have been skipped. A
// scale that is not finite says that this one is: nothing is changed then. g
// never is. Rounded is w as bf16 or f16, and was so before. Learning rate and
// weight decay of w, lr and wd below, are read from the context at every call,
// and so is what elements of the scaled gradient are clipped to; t is the
// number of the step there, from 1 on, without those skipped. Slots start as
// zeros; all of them may be bf16, to which they are rounded as they are stored.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_OPTIMIZER_H
#define FFRT_OPTIMIZER_H

#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <memory>

namespace ffrt {

/// g' = g + wd * w;  v = momentum * v + g' (without slots v = g');
/// w -= lr * (nesterov ? g' + momentum * v : v)
class SgdUpdate {
public:
  SgdUpdate(Context &cx, Tensors in, Tensors out, double momentum,
            int64_t nesterov);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  Real momentum;
  bool nesterov;
};

/// What the optimizers with two moments share:
///   m = beta1 * m + (1 - beta1) * g';  v = beta2 * v + (1 - beta2) * g'^2
///   d = (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
struct MomentNumbers {
  double beta1, beta2, epsilon;
};

/// Adam (Kingma and Ba, ICLR 2015): g' = g + wd * w;  w -= lr * d
class AdamUpdate {
public:
  AdamUpdate(Context &cx, Tensors in, Tensors out, double beta1, double beta2,
             double epsilon);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  MomentNumbers numbers;
};

/// AdamW (Loshchilov and Hutter, ICLR 2019): g' = g;  w -= lr * (d + wd * w)
class AdamwUpdate {
public:
  AdamwUpdate(Context &cx, Tensors in, Tensors out, double beta1, double beta2,
              double epsilon);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  MomentNumbers numbers;
};

/// AdamW as Hugging Face's Transformers have it: epsilon stands beside the root
/// of v that is not corrected, and what decays is the updated parameter.
/// g' = g;  w -= lr * (m / (1 - beta1^t)) * sqrt(1 - beta2^t) / (sqrt(v) +
/// epsilon);  w -= lr * wd * w
class HfAdamwUpdate {
public:
  HfAdamwUpdate(Context &cx, Tensors in, Tensors out, double beta1,
                double beta2, double epsilon);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  MomentNumbers numbers;
};

/// Lion (Chen et al., NeurIPS 2023): g' = g;
/// w -= lr * (sign(beta1 * m + (1 - beta1) * g') + wd * w), the sign of 0 being
/// 0;  m = beta2 * m + (1 - beta2) * g'
class LionUpdate {
public:
  LionUpdate(Context &cx, Tensors in, Tensors out, double beta1, double beta2);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  Real beta1, beta2;
};

/// The running mean w of a parameter, which is g: w += (1 - decay) * (g - w).
/// It has no rate, decay or bound.
class EmaUpdate {
public:
  EmaUpdate(Context &cx, Tensors in, Tensors out, double decay);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  Real decay;
};

/// Adagrad (Duchi et al., JMLR 2011): g' = g + wd * w;  s += g'^2;
/// w -= lr * g' / (sqrt(s) + epsilon)
class AdagradUpdate {
public:
  AdagradUpdate(Context &cx, Tensors in, Tensors out, double epsilon);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  Real epsilon;
};

/// g' = g + wd * w;  s = alpha * s + (1 - alpha) * g'^2;
/// v = momentum * v + g' / (sqrt(s) + epsilon) (v = the quotient without the
/// slot);  w -= lr * v
class RmspropUpdate {
public:
  RmspropUpdate(Context &cx, Tensors in, Tensors out, double alpha,
                double epsilon, double momentum);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  Real alpha, epsilon, momentum;
};

/// LAMB (You et al., ICLR 2020), its first half: {w, g, scale?, m, v} ->
/// {m, v, r, norms}: g' = g;  r = d + wd * w, 0 if the step is skipped. norms
/// [2] are the sums of squares of w and r in this tile.
class LambDirection {
public:
  LambDirection(Context &cx, Tensors in, Tensors out, double beta1,
                double beta2, double epsilon);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  MomentNumbers numbers;
  std::shared_ptr<void> partial; ///< sums of blocks
};

/// Its second half: {w, r, norms} -> {w, rounded?}, the norms those of the
/// whole parameter: w -= lr * sqrt(norms[0] / norms[1]) * r, or lr * r where
/// one is 0.
class LambUpdate {
public:
  LambUpdate(Context &cx, Tensors in, Tensors out, double beta1, double beta2,
             double epsilon);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
};

/// {x} -> {sum}: the sum of the squares of the tile's elements, the same bits
/// for any number of threads.
class SquareSum {
public:
  SquareSum(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);

private:
  std::shared_ptr<void> partial; ///< sums of blocks
};

/// {sums...} -> {scale}: the smaller of 1 and max_norm / (sqrt(sum of sums) +
/// 1e-6), by which gradients are multiplied so that their norm is bounded.
class ClipScale {
public:
  ClipScale(Context &cx, Tensors in, Tensors out, double max_norm);
  void operator()(Tensors in, Tensors out);

private:
  double max_norm;
};

/// {scale, good, skipped, sums...} -> {factor [2], scale, good, skipped}, all
/// but factor in place: the gradients, whose sums of squares are given, are
/// those of scale times the loss. If they are finite, factor[0] is what
/// ClipScale gives for the gradients of the loss (1 without max_norm), over
/// scale; with the last of `interval` such steps in a row, which good counts,
/// scale is doubled. Else factor[0] is infinite, scale is halved, and skipped
/// counts the step. factor[1] is skipped; scale stays from least to most.
class LossScale {
public:
  LossScale(Context &cx, Tensors in, Tensors out, int64_t interval,
            double least, double max_norm, double most);
  void operator()(Tensors in, Tensors out);

private:
  int64_t interval;
  double least, max_norm, most;
};

} // namespace ffrt

#endif // FFRT_OPTIMIZER_H
