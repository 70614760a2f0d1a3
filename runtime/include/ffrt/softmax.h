//===- softmax.h - softmax and its logarithm --------------------*- C++ -*-===//
//
// Normalised jointly over all dimensions in `axes`; `log` not 0: the logarithm.
// Sums and maxima have x's dimensions without `axes` and are row-major. Other
// tensors of a call have one shape and order. Type f32 but for the x of
// SoftmaxMax and SoftmaxSum, which may be bf16 or f16.
//
// A normalised dimension that is split needs kernels that compute the maximum
// and the sums of a tile, which are combined over the tiles before the next
// kernel reads them.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_SOFTMAX_H
#define FFRT_SOFTMAX_H

#include "ffrt/kernel.h"

namespace ffrt {

/// What the kernels have in common.
class SoftmaxKernel {
protected:
  SoftmaxKernel(const Tensor &x, const Ints &axes, int64_t log);
  bool normalised[kMaxRank] = {};
  bool log;
};

/// {x} -> {y}. `axes` are whole.
class SoftmaxForward : SoftmaxKernel {
public:
  SoftmaxForward(Context &cx, Tensors in, Tensors out, const Ints &axes,
                 int64_t log);
  void operator()(Tensors in, Tensors out);
};

/// {x} -> {max}
class SoftmaxMax : SoftmaxKernel {
public:
  SoftmaxMax(Context &cx, Tensors in, Tensors out, const Ints &axes,
             int64_t log);
  void operator()(Tensors in, Tensors out);
};

/// {x, max} -> {sum of exp(x - max)}
class SoftmaxSum : SoftmaxKernel {
public:
  SoftmaxSum(Context &cx, Tensors in, Tensors out, const Ints &axes,
             int64_t log);
  void operator()(Tensors in, Tensors out);
};

/// {x, max, sum} -> {y}
class SoftmaxApply : SoftmaxKernel {
public:
  SoftmaxApply(Context &cx, Tensors in, Tensors out, const Ints &axes,
               int64_t log);
  void operator()(Tensors in, Tensors out);
};

/// {dy, y} -> {dx}. `axes` are whole.
class SoftmaxBackward : SoftmaxKernel {
public:
  SoftmaxBackward(Context &cx, Tensors in, Tensors out, const Ints &axes,
                  int64_t log);
  void operator()(Tensors in, Tensors out);
};

/// {dy, y} -> {sum of dy * y, of dy if `log`}
class SoftmaxBackwardSum : SoftmaxKernel {
public:
  SoftmaxBackwardSum(Context &cx, Tensors in, Tensors out, const Ints &axes,
                     int64_t log);
  void operator()(Tensors in, Tensors out);
};

/// {dy, y, sum} -> {dx}
class SoftmaxBackwardApply : SoftmaxKernel {
public:
  SoftmaxBackwardApply(Context &cx, Tensors in, Tensors out, const Ints &axes,
                       int64_t log);
  void operator()(Tensors in, Tensors out);
};

} // namespace ffrt

#endif // FFRT_SOFTMAX_H
