//===- elementwise.h - element-wise kernels ---------------------*- C++ -*-===//
//
// Kernels made of the functors of functors.h: Elementwise for tensors of one
// shape, Broadcast for operands that broadcast.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_ELEMENTWISE_H
#define FFRT_ELEMENTWISE_H

#include "ffrt/functors.h"
#include "ffrt/kernel.h"

namespace ffrt {

/// out[i] = f(in0[i], ..., in{N-1}[i]) on f32 tensors of one shape and order.
/// F is copyable and constructed from the attributes. The result may be one of
/// the operands.
template <class F, int N> class Elementwise {
public:
  template <class... Attributes>
  Elementwise(Context &, Tensors in, Tensors out, Attributes... attributes)
      : f{static_cast<Real>(attributes)...} {
    check(in, out);
  }
  void operator()(Tensors in, Tensors out);

private:
  static void check(Tensors in, Tensors out);
  F f;
};

/// {x0, ..., x{N-1}} -> {y} on f32: y = F()(x0, ...) with numpy broadcasting,
/// aligned at the trailing logical dimensions. Ranks and orders may differ. The
/// box of an operand is the part that the tile of y needs; broadcast dimensions
/// have extent 1. The result may be an operand of its own shape and order.
template <class F, int N> class Broadcast {
public:
  Broadcast(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

// All are compiled with the runtime.

#define FFRT_ELEMENTWISE(Name, Functor, N)                                     \
  extern template class Elementwise<fn::Functor, N>;                           \
  using Name = Elementwise<fn::Functor, N>;

/// {x} -> {y}, and {dy, what the forward kernel saves} -> {dx}.
#define FFRT_DIFFERENTIABLE(Name)                                              \
  FFRT_ELEMENTWISE(Name##Forward, Name, 1)                                     \
  FFRT_ELEMENTWISE(Name##Backward, Name##Gradient, 2)

#define FFRT_BROADCAST(Name, N)                                                \
  extern template class Broadcast<fn::Name, N>;                                \
  using Name = Broadcast<fn::Name, N>;

#include "ffrt/elementwise.inc"

#undef FFRT_ELEMENTWISE
#undef FFRT_DIFFERENTIABLE
#undef FFRT_BROADCAST

/// {x} -> {y} of one type: x broadcast to y as above.
class Expand {
public:
  Expand(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

/// {x} -> {y} of one shape and order: the elements as another type, number `to`
/// of DType. Floats become integers by truncation, anything but 0 true.
class Cast {
public:
  Cast(Context &cx, Tensors in, Tensors out, int64_t to);
  void operator()(Tensors in, Tensors out);
};

} // namespace ffrt

#endif // FFRT_ELEMENTWISE_H
