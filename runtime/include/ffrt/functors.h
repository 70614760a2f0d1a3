//===- functors.h - the element-wise functions ------------------*- C++ -*-===//
//
// One functor per function of the compiler: that of the kind `hard_sigmoid` is
// HardSigmoid, that of its backward kernel HardSigmoidGradient. Members are the
// parameters alpha and beta. A gradient is called with dy and what the forward
// function saves: its operand x or its result y, as the argument's name says.
//
// The kernels of elementwise.h and the fused kernels of emitted programs are
// made of these.
//
// What is not a number stays none: nobody finds where it comes from once it has
// become 0. So comparisons are such that it fails them.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_FUNCTORS_H
#define FFRT_FUNCTORS_H

#include "ffrt/fast_math.h"

#include <cmath>

namespace ffrt::fn {

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

struct Relu {
  FFRT_FUNCTION float operator()(float x) const { return x < 0.0f ? 0.0f : x; }
};
struct ReluGradient {
  FFRT_FUNCTION float operator()(float dy, float y) const {
    return y > 0.0f ? dy : 0.0f;
  }
};

struct Sigmoid {
  FFRT_FUNCTION float operator()(float x) const { return fast_logistic(x); }
};
struct SigmoidGradient {
  FFRT_FUNCTION float operator()(float dy, float y) const {
    return dy * y * (1.0f - y);
  }
};

struct Tanh {
  FFRT_FUNCTION float operator()(float x) const { return fast_tanh(x); }
};
struct TanhGradient {
  FFRT_FUNCTION float operator()(float dy, float y) const {
    return dy * (1.0f - y * y);
  }
};

struct LeakyRelu {
  float alpha;
  FFRT_FUNCTION float operator()(float x) const {
    return x < 0.0f ? alpha * x : x;
  }
};
struct LeakyReluGradient {
  float alpha;
  FFRT_FUNCTION float operator()(float dy, float x) const {
    return x < 0.0f ? alpha * dy : dy;
  }
};

/// Its own gradient.
struct Scale {
  float alpha;
  FFRT_FUNCTION float operator()(float x) const { return alpha * x; }
};

/// Hands dy on.
struct Shift {
  float alpha;
  FFRT_FUNCTION float operator()(float x) const { return x + alpha; }
};

struct Abs {
  FFRT_FUNCTION float operator()(float x) const { return __builtin_fabsf(x); }
};
struct AbsGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const {
    return x > 0.0f ? dy : x < 0.0f ? -dy : 0.0f;
  }
};

struct Sqrt {
  FFRT_FUNCTION float operator()(float x) const { return __builtin_sqrtf(x); }
};
struct SqrtGradient {
  FFRT_FUNCTION float operator()(float dy, float y) const {
    return 0.5f * dy / y;
  }
};

struct Exp {
  FFRT_FUNCTION float operator()(float x) const { return fast_exp(x); }
};
struct ExpGradient {
  FFRT_FUNCTION float operator()(float dy, float y) const { return dy * y; }
};

struct Log {
  FFRT_FUNCTION float operator()(float x) const { return fast_log(x); }
};
struct LogGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const { return dy / x; }
};

struct Erf {
  FFRT_FUNCTION float operator()(float x) const { return fast_erf(x); }
};
struct ErfGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const {
    return dy * 1.12837917f * fast_exp(-x * x);
  }
};

struct Reciprocal {
  FFRT_FUNCTION float operator()(float x) const { return 1.0f / x; }
};
struct ReciprocalGradient {
  FFRT_FUNCTION float operator()(float dy, float y) const {
    return -dy * y * y;
  }
};

struct Softplus {
  FFRT_FUNCTION float operator()(float x) const {
    return (x > 0.0f ? x : 0.0f) + fast_log1p(fast_exp(-__builtin_fabsf(x)));
  }
};
struct SoftplusGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const {
    return dy * fast_logistic(x);
  }
};

struct Softsign {
  FFRT_FUNCTION float operator()(float x) const {
    return x / (1.0f + __builtin_fabsf(x));
  }
};
struct SoftsignGradient {
  FFRT_FUNCTION float operator()(float dy, float y) const {
    float a = 1.0f - __builtin_fabsf(y);
    return dy * a * a;
  }
};

struct HardSigmoid {
  float alpha, beta;
  FFRT_FUNCTION float operator()(float x) const {
    float y = alpha * x + beta;
    return y < 0.0f ? 0.0f : y > 1.0f ? 1.0f : y;
  }
};
struct HardSigmoidGradient {
  float alpha, beta;
  FFRT_FUNCTION float operator()(float dy, float y) const {
    return (y > 0.0f) & (y < 1.0f) ? alpha * dy : 0.0f;
  }
};

struct HardSwish {
  FFRT_FUNCTION float operator()(float x) const {
    float gate = x * (1.0f / 6.0f) + 0.5f;
    return x * (gate < 0.0f ? 0.0f : gate > 1.0f ? 1.0f : gate);
  }
};
struct HardSwishGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const {
    float slope = x * (1.0f / 3.0f) + 0.5f;
    return dy * (x <= -3.0f ? 0.0f : x >= 3.0f ? 1.0f : slope);
  }
};

struct Elu {
  float alpha;
  FFRT_FUNCTION float operator()(float x) const {
    return x < 0.0f ? alpha * fast_expm1(x) : x;
  }
};
struct EluGradient {
  float alpha;
  FFRT_FUNCTION float operator()(float dy, float x) const {
    return x < 0.0f ? dy * alpha * fast_exp(x) : dy;
  }
};

struct Selu {
  float alpha, beta;
  FFRT_FUNCTION float operator()(float x) const {
    return beta * (x < 0.0f ? alpha * fast_expm1(x) : x);
  }
};
struct SeluGradient {
  float alpha, beta;
  FFRT_FUNCTION float operator()(float dy, float x) const {
    return dy * beta * (x < 0.0f ? alpha * fast_exp(x) : 1.0f);
  }
};

struct Celu {
  float alpha;
  FFRT_FUNCTION float operator()(float x) const {
    return x < 0.0f ? alpha * fast_expm1(x / alpha) : x;
  }
};
struct CeluGradient {
  float alpha;
  FFRT_FUNCTION float operator()(float dy, float x) const {
    return x < 0.0f ? dy * fast_exp(x / alpha) : dy;
  }
};

struct Gelu {
  FFRT_FUNCTION float operator()(float x) const {
    return 0.5f * x * (1.0f + fast_erf(x * 0.707106781f));
  }
};
struct GeluGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const {
    float distribution = 0.5f * (1.0f + fast_erf(x * 0.707106781f));
    float density = 0.398942280f * fast_exp(-0.5f * x * x);
    return dy * (distribution + x * density);
  }
};

/// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3).
struct GeluTanh {
  FFRT_FUNCTION static float gate(float x) {
    return fast_logistic(x * (1.59576912f + 0.0713548163f * x * x));
  }
  FFRT_FUNCTION float operator()(float x) const { return x * gate(x); }
};
struct GeluTanhGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const {
    float s = GeluTanh::gate(x), slope = 1.59576912f + 0.214064449f * x * x;
    return dy * s * (1.0f + x * (1.0f - s) * slope);
  }
};

struct Silu {
  FFRT_FUNCTION float operator()(float x) const { return x * fast_logistic(x); }
};
struct SiluGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const {
    float s = fast_logistic(x);
    return dy * s * (1.0f + x * (1.0f - s));
  }
};

/// To [alpha, beta]; beta where the bounds contradict each other.
struct Clip {
  float alpha, beta;
  FFRT_FUNCTION float operator()(float x) const {
    float y = x < alpha ? alpha : x;
    return y > beta ? beta : y;
  }
};
struct ClipGradient {
  float alpha, beta;
  FFRT_FUNCTION float operator()(float dy, float y) const {
    return (y > alpha) & (y < beta) ? dy : 0.0f;
  }
};

struct Sin {
  FFRT_FUNCTION float operator()(float x) const { return fast_sin(x); }
};
struct SinGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const {
    return dy * fast_cos(x);
  }
};

struct Cos {
  FFRT_FUNCTION float operator()(float x) const { return fast_cos(x); }
};
struct CosGradient {
  FFRT_FUNCTION float operator()(float dy, float x) const {
    return -dy * fast_sin(x);
  }
};

// Functions without gradient.

struct Sign {
  FFRT_FUNCTION float operator()(float x) const {
    return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
  }
};
struct Floor {
  FFRT_FUNCTION float operator()(float x) const { return __builtin_floorf(x); }
};
struct Ceil {
  FFRT_FUNCTION float operator()(float x) const { return __builtin_ceilf(x); }
};
/// Halves go to the even neighbour.
struct Round {
  FFRT_FUNCTION float operator()(float x) const { return __builtin_rintf(x); }
};

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

struct Add {
  FFRT_FUNCTION float operator()(float a, float b) const { return a + b; }
};
struct Sub {
  FFRT_FUNCTION float operator()(float a, float b) const { return a - b; }
};
struct Mul {
  FFRT_FUNCTION float operator()(float a, float b) const { return a * b; }
};
struct Div {
  FFRT_FUNCTION float operator()(float a, float b) const { return a / b; }
};
struct Pow {
  FFRT_FUNCTION float operator()(float a, float b) const {
    return std::pow(a, b);
  }
};
/// What is left of a after whole b's, with the sign of a.
struct Fmod {
  FFRT_FUNCTION float operator()(float a, float b) const {
    return std::fmod(a, b);
  }
};
/// What is not a number wins, as in numpy.
struct Min {
  FFRT_FUNCTION float operator()(float a, float b) const {
    return (b < a) | (b != b) ? b : a;
  }
};
struct Max {
  FFRT_FUNCTION float operator()(float a, float b) const {
    return larger(b, a);
  }
};
struct Prelu {
  FFRT_FUNCTION float operator()(float x, float slope) const {
    return x < 0.0f ? slope * x : x;
  }
};

// Comparisons: 1 where they hold, else 0.

struct Equal {
  FFRT_FUNCTION float operator()(float a, float b) const {
    return a == b ? 1.0f : 0.0f;
  }
};
struct Less {
  FFRT_FUNCTION float operator()(float a, float b) const {
    return a < b ? 1.0f : 0.0f;
  }
};
struct LessOrEqual {
  FFRT_FUNCTION float operator()(float a, float b) const {
    return a <= b ? 1.0f : 0.0f;
  }
};
struct Greater {
  FFRT_FUNCTION float operator()(float a, float b) const {
    return a > b ? 1.0f : 0.0f;
  }
};
struct GreaterOrEqual {
  FFRT_FUNCTION float operator()(float a, float b) const {
    return a >= b ? 1.0f : 0.0f;
  }
};

// Of the first operand, by the second one, and else 0.

struct Keep {
  FFRT_FUNCTION float operator()(float x, float condition) const {
    return condition != 0.0f ? x : 0.0f;
  }
};
struct Drop {
  FFRT_FUNCTION float operator()(float x, float condition) const {
    return condition != 0.0f ? 0.0f : x;
  }
};

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

struct Select {
  FFRT_FUNCTION float operator()(float condition, float a, float b) const {
    return condition != 0.0f ? a : b;
  }
};

} // namespace ffrt::fn

#endif // FFRT_FUNCTORS_H
