//===- optimizer.h - parameter updates --------------------------*- C++ -*-===//
#ifndef FFRT_OPTIMIZER_H
#define FFRT_OPTIMIZER_H

#include "ffrt/kernel.h"

namespace ffrt {

/// {w, g, v?} -> {w, v?} in place, f32, one shape and order:
///
///   g' = g + weight_decay * w
///   v  = momentum * v + g'                 (absent v: v = g')
///   w  = w - learning_rate * (nesterov ? g' + momentum * v : v)
///
/// Learning rate and weight decay are read from the context at every call. g is
/// not changed.
class SgdUpdate {
public:
  SgdUpdate(Context &cx, Tensors in, Tensors out, double momentum,
            int64_t nesterov);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  float momentum;
  bool nesterov;
};

} // namespace ffrt

#endif // FFRT_OPTIMIZER_H
