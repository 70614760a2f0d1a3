//===- lrn.h - local response normalisation ---------------------*- C++ -*-===//
//
// scale[c] = bias + alpha / size * sum of x[j]^2 over the channels
// j = c - floor((size-1)/2) .. c + ceil((size-1)/2) inside the input;
// y = x * scale^-beta. Rank 2 or more, dimension 1 is the channel. Type f32,
// all tensors of a call in one order.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_LRN_H
#define FFRT_LRN_H

#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <memory>

namespace ffrt {

/// The attributes of both kernels.
struct LrnWindow {
  Real alpha; ///< the factor of sums: the gradient's is 2 beta times as large
  Real beta, bias;
  int64_t below, above; ///< channels of the window on either side
};

/// {x} -> {y, scale?}. The box of x holds all channels in the windows of y's.
class LrnForward : LrnWindow {
public:
  LrnForward(Context &cx, Tensors in, Tensors out, double alpha, double beta,
             double bias, int64_t size);
  void operator()(Tensors in, Tensors out);
};

/// {dy, x, scale} -> {dx}. The operands have the same box, which holds all
/// channels whose windows contain a channel of dx.
class LrnBackward : LrnWindow {
public:
  LrnBackward(Context &cx, Tensors in, Tensors out, double alpha, double beta,
              double bias, int64_t size);
  void operator()(Tensors in, Tensors out);

private:
  struct Plan; ///< of the target
  std::shared_ptr<Plan> plan;
};

} // namespace ffrt

#endif // FFRT_LRN_H
