//===- shape.h - kernels that only move elements ----------------*- C++ -*-===//
//
// Any type (Pad: f32, bf16, f16 and i32), any orders.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_SHAPE_H
#define FFRT_SHAPE_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

/// {x} -> {y}: the elements of the tile of x in row-major order become those of
/// the tile of y in row-major order.
class Reshape {
public:
  Reshape(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);

private:
  std::shared_ptr<void> scratch; ///< used when both tensors are channels-last
};

/// {x} -> {y}: dimension d of y is dimension perm[d] of x.
class Transpose {
public:
  Transpose(Context &cx, Tensors in, Tensors out, const Ints &perm);
  void operator()(Tensors in, Tensors out);

private:
  Ints perm;
};

/// {x0, x1, ...} -> {y}, joined along `axis`. Operand k starts at the sum of
/// the global extents of the operands before it; operands outside the tile of y
/// may be absent.
class Concat {
public:
  Concat(Context &cx, Tensors in, Tensors out, int64_t axis);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
};

/// {x} -> {y}: y at global coordinate i is x at i + starts. y may lie where x
/// does.
class Slice {
public:
  Slice(Context &cx, Tensors in, Tensors out, const Ints &starts);
  void operator()(Tensors in, Tensors out);

private:
  Index shift;
};

/// {x} -> {y}: pads are 2 * rank numbers, all begins and then all ends, and may
/// be negative. x may be absent when the tile lies in the padding.
class Pad {
public:
  Pad(Context &cx, Tensors in, Tensors out, const Ints &pads, double value);
  void operator()(Tensors in, Tensors out);

private:
  Index shift;
  double value;
};

} // namespace ffrt

#endif // FFRT_SHAPE_H
