//===- pool.h - two-dimensional pooling -------------------------*- C++ -*-===//
//
// Output row o covers input rows o * stride - pad + k * dilation, columns
// alike; pads are top, left, bottom, right. Positions outside the input are
// skipped. Tiles: any box; the operand boxes hold all positions inside the
// input that the tile needs. Type f32 (indices i32), any order.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_POOL_H
#define FFRT_POOL_H

#include "ffrt/kernel.h"

namespace ffrt {

/// How windows lie on the input: two entries each, rows first.
struct Window {
  int64_t kernel[2], stride[2], pad[2], pad_end[2], dilation[2];
};

/// {x} -> {y, index?}. index is the global position h * W + w in the input
/// plane of the first maximum in scan order; -1 (and y minus infinity) for a
/// window without any input position.
class MaxPoolForward {
public:
  MaxPoolForward(Context &cx, Tensors in, Tensors out, const Ints &dilations,
                 const Ints &kernel_shape, const Ints &pads,
                 const Ints &strides);
  void operator()(Tensors in, Tensors out);

private:
  Window window;
};

/// {dy, index} -> {dx}; dy and index hold all windows that meet the tile of dx.
class MaxPoolBackward {
public:
  MaxPoolBackward(Context &cx, Tensors in, Tensors out, const Ints &dilations,
                  const Ints &kernel_shape, const Ints &pads,
                  const Ints &strides);
  void operator()(Tensors in, Tensors out);

private:
  Window window;
};

/// {x} -> {y}. A window's sum is divided by the number of its positions inside
/// the input, or with count_include_pad inside the input and the declared
/// padding: what exceeds it (ceil mode) never counts.
class AveragePoolForward {
public:
  AveragePoolForward(Context &cx, Tensors in, Tensors out,
                     int64_t count_include_pad, const Ints &kernel_shape,
                     const Ints &pads, const Ints &strides);
  void operator()(Tensors in, Tensors out);

private:
  Window window;
  bool include_pad;
};

/// {dy} -> {dx}; dy holds all windows that meet the tile of dx.
class AveragePoolBackward {
public:
  AveragePoolBackward(Context &cx, Tensors in, Tensors out,
                      int64_t count_include_pad, const Ints &kernel_shape,
                      const Ints &pads, const Ints &strides);
  void operator()(Tensors in, Tensors out);

private:
  Window window;
  bool include_pad;
};

} // namespace ffrt

#endif // FFRT_POOL_H
