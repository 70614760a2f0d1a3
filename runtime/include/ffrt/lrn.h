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

#include <vector>

namespace ffrt {

/// {x} -> {y, scale?}. The box of x holds all channels in the windows of y's.
class LrnForward {
public:
  LrnForward(Context &cx, Tensors in, Tensors out, double alpha, double beta,
             double bias, int64_t size);
  void operator()(Tensors in, Tensors out);

private:
  float alpha, beta, bias; ///< alpha is already divided by size
  int64_t below, above;    ///< channels of the window on either side
};

/// {dy, x, scale} -> {dx}. The operands have the same box, which holds all
/// channels whose windows contain a channel of dx.
class LrnBackward {
public:
  LrnBackward(Context &cx, Tensors in, Tensors out, double alpha, double beta,
              double bias, int64_t size);
  void operator()(Tensors in, Tensors out);

private:
  float alpha, beta;
  int64_t below, above;
  std::vector<float> scratch; ///< one line of channels per thread
};

} // namespace ffrt

#endif // FFRT_LRN_H
