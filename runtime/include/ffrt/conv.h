//===- conv.h - convolution of one to three spatial dimensions --*- C++ -*-===//
//
// Geometry of all three kernels, for a global output row o and kernel row k
// (other spatial dimensions alike): the input row is o * strides[0] - pads[0] +
// k * dilations[0]; rows outside [0, global) are zero. Attributes of the whole
// operator: dilations (one per spatial dimension), group, pads (all begins,
// then all ends) and strides.
//
// Tiles: any box of batch, space, output channels and input channels (a
// part of the input channels gives a partial sum). The number of local groups
// is (channels of x) / (extent 1 of w). A tile with a part of the channels of
// several groups holds them packed: local channel = local group * channels per
// local group + channel.
//
// `clamp`: bounds that the result of the forward kernel is cut to, none, the
// lower one, or both. Its input channels are whole then.
//
// Types: the two operands of a product are f32, bf16 or f16. The image that is
// a result, y or dx, is f32, or like them: a sum in f32 that is rounded once.
// All else is f32. Activations in either order (channels-last is fast), weights
// row-major.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CONV_H
#define FFRT_CONV_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

/// y[N,OC,OH,OW] = conv(x[N,IC,H,W], w[OC,IC/group,KH,KW]) + b[OC]?, clamped
class ConvForward {
public:
  ConvForward(Context &cx, Tensors in, Tensors out, const Reals &clamp,
              const Ints &dilations, int64_t group, const Ints &pads,
              const Ints &strides);
  ~ConvForward();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// dx = gradient of the input, from {dy, w}. The tile of dy holds every output
/// position whose window meets the tile of dx, and may hold more. Positions
/// that no window covers get zero.
class ConvBackwardData {
public:
  ConvBackwardData(Context &cx, Tensors in, Tensors out, const Ints &dilations,
                   int64_t group, const Ints &pads, const Ints &strides);
  ~ConvBackwardData();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// dw = gradient of the weights, from {x, dy}, summed over the tile of dy.
class ConvBackwardWeights {
public:
  ConvBackwardWeights(Context &cx, Tensors in, Tensors out,
                      const Ints &dilations, int64_t group, const Ints &pads,
                      const Ints &strides);
  ~ConvBackwardWeights();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_CONV_H
