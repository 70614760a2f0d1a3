//===- pool.h - pooling of one to three spatial dimensions ------*- C++ -*-===//
//
// Output row o covers input rows o * stride - pad + k * dilation, other spatial
// dimensions alike; pads are all begins, then all ends. Positions outside the
// input are skipped. Tiles: any box; the operand boxes hold all positions
// inside the input that the tile needs. Any order. Images are f32, bf16 or f16,
// of at most one type besides f32 in a kernel: it computes in f32 and rounds
// results once. Indices are i32.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_POOL_H
#define FFRT_POOL_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

struct PoolPlan; ///< of the target

/// {x} -> {y, index?}. index is the global position (d * H + h) * W + w in the
/// input image of the first maximum in scan order; -1 (and y minus infinity)
/// for a window without any input position.
class MaxPoolForward {
public:
  MaxPoolForward(Context &cx, Tensors in, Tensors out, const Ints &dilations,
                 const Ints &kernel_shape, const Ints &pads,
                 const Ints &strides);
  void operator()(Tensors in, Tensors out);

private:
  std::shared_ptr<const PoolPlan> plan;
};

/// {dy, index} -> {dx}; dy and index hold all windows that meet the tile of dx.
class MaxPoolBackward {
public:
  MaxPoolBackward(Context &cx, Tensors in, Tensors out, const Ints &dilations,
                  const Ints &kernel_shape, const Ints &pads,
                  const Ints &strides);
  void operator()(Tensors in, Tensors out);

private:
  std::shared_ptr<const PoolPlan> plan;
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
  std::shared_ptr<const PoolPlan> plan;
};

/// {dy} -> {dx}; dy holds all windows that meet the tile of dx.
class AveragePoolBackward {
public:
  AveragePoolBackward(Context &cx, Tensors in, Tensors out,
                      int64_t count_include_pad, const Ints &kernel_shape,
                      const Ints &pads, const Ints &strides);
  void operator()(Tensors in, Tensors out);

private:
  std::shared_ptr<const PoolPlan> plan;
};

} // namespace ffrt

#endif // FFRT_POOL_H
