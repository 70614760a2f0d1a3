//===- elementwise.h - element-wise kernels ---------------------*- C++ -*-===//
//
// A unary or backward kernel is a functor in the template Elementwise; emitted
// programs instantiate it with functors of their own. Binary kernels broadcast.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_ELEMENTWISE_H
#define FFRT_ELEMENTWISE_H

#include "ffrt/kernel.h"
#include "ffrt/parallel.h"

#include <array>
#include <cmath>
#include <utility>

namespace ffrt {

/// Throws Error unless all operands and the result are f32 with one shape and
/// one order.
void check_elementwise(Tensors in, Tensors out, int operands);

/// out[i] = f(in0[i], ..., in{N-1}[i]) on f32 tensors of one shape and order.
/// F is copyable and constructed from the attributes. The result may be one of
/// the operands.
template <class F, int N> class Elementwise {
public:
  template <class... Attributes>
  Elementwise(Context &, Tensors in, Tensors out, Attributes... attributes)
      : f{static_cast<float>(attributes)...} {
    check_elementwise(in, out, N);
  }
  void operator()(Tensors in, Tensors out) {
    apply(in, out, std::make_index_sequence<N>());
  }

private:
  template <std::size_t... I>
  void apply(Tensors in, Tensors out, std::index_sequence<I...>) {
    const std::array<const float *, N> x = {
        in.begin()[I].template as<float>()...};
    float *y = out.begin()->as<float>();
    // A local copy tells the compiler that stores to y do not change f.
    const F g = f;
    parallel_for(out.begin()->elements(), 16384,
                 [=](int64_t begin, int64_t end) {
#pragma GCC ivdep
                   for (int64_t i = begin; i < end; ++i)
                     y[i] = g(x[I][i]...);
                 });
  }
  F f;
};

/// exp(x) with an error below 2 units in the last place, in a form that
/// compilers vectorise; 0 below -87.3, infinity above 88.7.
inline float fast_exp(float x) {
  float in = x < -87.33f ? -87.33f : x > 88.72f ? 88.72f : x;
  float n = __builtin_rintf(in * 1.44269504f);
  float r = in - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // Two factors, since 2^128 is no float while exp(88.7) is.
  int k = static_cast<int>(n), half = k >> 1;
  union {
    int i;
    float f;
  } a{(half + 127) << 23}, b{(k - half + 127) << 23};
  float y = p * a.f * b.f;
  y = x < -87.33f ? 0.0f : y;
  y = x > 88.72f ? __builtin_inff() : y;
  return x != x ? x : y;
}

struct Relu {
  float operator()(float x) const { return x > 0.0f ? x : 0.0f; }
};
struct ReluGradient {
  float operator()(float dy, float y) const { return y > 0.0f ? dy : 0.0f; }
};
struct LeakyRelu {
  float alpha;
  float operator()(float x) const { return x < 0.0f ? alpha * x : x; }
};
struct LeakyReluGradient {
  float alpha;
  float operator()(float dy, float x) const {
    return x < 0.0f ? alpha * dy : dy;
  }
};
struct Sigmoid {
  float operator()(float x) const { return 1.0f / (1.0f + fast_exp(-x)); }
};
struct SigmoidGradient {
  float operator()(float dy, float y) const { return dy * y * (1.0f - y); }
};
struct Tanh {
  /// Near zero the quotient cancels, so an odd polynomial takes over.
  float operator()(float x) const {
    float a = __builtin_fabsf(x), s = x * x;
    float e = fast_exp(2.0f * (a > 10.0f ? 10.0f : a));
    float large = 1.0f - 2.0f / (e + 1.0f);
    float p = -5.70498872745e-3f;
    p = p * s + 2.06390887954e-2f;
    p = p * s - 5.37397155531e-2f;
    p = p * s + 1.33314422036e-1f;
    p = p * s - 3.33332819422e-1f;
    float small = p * s * x + x;
    return a < 0.625f ? small : __builtin_copysignf(large, x);
  }
};
struct TanhGradient {
  float operator()(float dy, float y) const { return dy * (1.0f - y * y); }
};
struct Multiple {
  float alpha;
  float operator()(float x) const { return alpha * x; }
};

using ReluForward = Elementwise<Relu, 1>;
using ReluBackward = Elementwise<ReluGradient, 2>;           ///< {dy, y}
using LeakyReluForward = Elementwise<LeakyRelu, 1>;          ///< alpha
using LeakyReluBackward = Elementwise<LeakyReluGradient, 2>; ///< {dy, x}; alpha
using SigmoidForward = Elementwise<Sigmoid, 1>;
using SigmoidBackward = Elementwise<SigmoidGradient, 2>; ///< {dy, y}
using TanhForward = Elementwise<Tanh, 1>;
using TanhBackward = Elementwise<TanhGradient, 2>; ///< {dy, y}
using Scale = Elementwise<Multiple, 1>;            ///< alpha

// Compiled with the runtime, so that programs that use nothing else need no
// optimiser.
extern template class Elementwise<Relu, 1>;
extern template class Elementwise<ReluGradient, 2>;
extern template class Elementwise<LeakyRelu, 1>;
extern template class Elementwise<LeakyReluGradient, 2>;
extern template class Elementwise<Sigmoid, 1>;
extern template class Elementwise<SigmoidGradient, 2>;
extern template class Elementwise<Tanh, 1>;
extern template class Elementwise<TanhGradient, 2>;
extern template class Elementwise<Multiple, 1>;

/// {a, b} -> {y} on f32 with numpy broadcasting, aligned at the trailing
/// logical dimensions. Ranks and orders may differ. The box of an operand is
/// the part that the tile of y needs; broadcast dimensions have extent 1.
class Add {
public:
  Add(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};
class Sub {
public:
  Sub(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};
class Mul {
public:
  Mul(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

/// {x} -> {y} of one type: x broadcast to y as above.
class Expand {
public:
  Expand(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

} // namespace ffrt

#endif // FFRT_ELEMENTWISE_H
