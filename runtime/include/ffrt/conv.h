//===- conv.h - two-dimensional convolution ---------------------*- C++ -*-===//
//
// Geometry of all three kernels, for a global output row o and kernel row k
// (columns alike): the input row is o * strides[0] - pads[0] + k *
// dilations[0]; rows outside [0, global) are zero. Attributes are dilations
// (2), group, pads (top, left, bottom, right) and strides (2) of the whole
// operator.
//
// Tiles: any box of batch, rows, columns, output channels and input channels (a
// part of the input channels gives a partial sum). The number of local groups
// is (channels of x) / (extent 1 of w). A tile with a part of the channels of
// several groups holds them packed: local channel = local group * channels per
// local group + channel.
//
// Type f32. Activations in either order (channels-last is fast), weights
// row-major.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CONV_H
#define FFRT_CONV_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

/// y[N,OC,OH,OW] = conv(x[N,IC,H,W], w[OC,IC/group,KH,KW]) + b[OC]?
class Conv2dForward {
public:
  Conv2dForward(Context &cx, Tensors in, Tensors out, const Ints &dilations,
                int64_t group, const Ints &pads, const Ints &strides);
  ~Conv2dForward();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// dx = gradient of the input, from {dy, w}. The tile of dy holds every output
/// position whose window meets the tile of dx, and may hold more. Positions
/// that no window covers get zero.
class Conv2dBackwardData {
public:
  Conv2dBackwardData(Context &cx, Tensors in, Tensors out,
                     const Ints &dilations, int64_t group, const Ints &pads,
                     const Ints &strides);
  ~Conv2dBackwardData();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// dw = gradient of the weights, from {x, dy}, summed over the tile of dy.
class Conv2dBackwardWeights {
public:
  Conv2dBackwardWeights(Context &cx, Tensors in, Tensors out,
                        const Ints &dilations, int64_t group, const Ints &pads,
                        const Ints &strides);
  ~Conv2dBackwardWeights();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_CONV_H
