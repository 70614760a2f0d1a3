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
#include "ffrt/real.h"

#include <cmath>

namespace ffrt::fn {

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

struct Relu {
  FFRT_FUNCTION Real operator()(Real x) const { return x < 0.0f ? 0.0f : x; }
};
struct ReluGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real y) const {
    return y > 0.0f ? dy : 0.0f;
  }
};

struct Sigmoid {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_logistic(x); }
};
struct SigmoidGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real y) const {
    return dy * y * (1.0f - y);
  }
};

struct Tanh {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_tanh(x); }
};
struct TanhGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real y) const {
    return dy * (1.0f - y * y);
  }
};

struct LeakyRelu {
  Real alpha;
  FFRT_FUNCTION Real operator()(Real x) const {
    return x < 0.0f ? alpha * x : x;
  }
};
struct LeakyReluGradient {
  Real alpha;
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return x < 0.0f ? alpha * dy : dy;
  }
};

/// Its own gradient.
struct Scale {
  Real alpha;
  FFRT_FUNCTION Real operator()(Real x) const { return alpha * x; }
};

/// Hands dy on.
struct Shift {
  Real alpha;
  FFRT_FUNCTION Real operator()(Real x) const { return x + alpha; }
};

struct Abs {
  FFRT_FUNCTION Real operator()(Real x) const { return std::fabs(x); }
};
struct AbsGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return x > 0.0f ? dy : x < 0.0f ? -dy : 0.0f;
  }
};

struct Sqrt {
  FFRT_FUNCTION Real operator()(Real x) const { return std::sqrt(x); }
};
struct SqrtGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real y) const { return 0.5f * dy / y; }
};

struct Exp {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_exp(x); }
};
struct ExpGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real y) const { return dy * y; }
};

struct Log {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_log(x); }
};
struct LogGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const { return dy / x; }
};

struct Erf {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_erf(x); }
};
struct ErfGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy * Real(1.1283791670955126) * fast_exp(-x * x);
  }
};

struct Reciprocal {
  FFRT_FUNCTION Real operator()(Real x) const { return 1.0f / x; }
};
struct ReciprocalGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real y) const { return -dy * y * y; }
};

struct Softplus {
  FFRT_FUNCTION Real operator()(Real x) const {
    return (x > 0.0f ? x : 0.0f) + fast_log1p(fast_exp(-std::fabs(x)));
  }
};
struct SoftplusGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy * fast_logistic(x);
  }
};

struct Softsign {
  FFRT_FUNCTION Real operator()(Real x) const {
    return x / (1.0f + std::fabs(x));
  }
};
struct SoftsignGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real y) const {
    Real a = 1.0f - std::fabs(y);
    return dy * a * a;
  }
};

struct HardSigmoid {
  Real alpha, beta;
  FFRT_FUNCTION Real operator()(Real x) const {
    Real y = alpha * x + beta;
    return y < 0.0f ? 0.0f : y > 1.0f ? 1.0f : y;
  }
};
struct HardSigmoidGradient {
  Real alpha, beta;
  FFRT_FUNCTION Real operator()(Real dy, Real y) const {
    return (y > 0.0f) & (y < 1.0f) ? alpha * dy : 0.0f;
  }
};

struct HardSwish {
  FFRT_FUNCTION Real operator()(Real x) const {
    Real gate = x * (Real(1) / Real(6)) + 0.5f;
    return x * (gate < 0.0f ? 0.0f : gate > 1.0f ? 1.0f : gate);
  }
};
struct HardSwishGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    Real slope = x * (Real(1) / Real(3)) + 0.5f;
    return dy * (x <= -3.0f ? 0.0f : x >= 3.0f ? 1.0f : slope);
  }
};

struct Elu {
  Real alpha;
  FFRT_FUNCTION Real operator()(Real x) const {
    return x < 0.0f ? alpha * fast_expm1(x) : x;
  }
};
struct EluGradient {
  Real alpha;
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return x < 0.0f ? dy * alpha * fast_exp(x) : dy;
  }
};

struct Selu {
  Real alpha, beta;
  FFRT_FUNCTION Real operator()(Real x) const {
    return beta * (x < 0.0f ? alpha * fast_expm1(x) : x);
  }
};
struct SeluGradient {
  Real alpha, beta;
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy * beta * (x < 0.0f ? alpha * fast_exp(x) : 1.0f);
  }
};

struct Celu {
  Real alpha;
  FFRT_FUNCTION Real operator()(Real x) const {
    return x < 0.0f ? alpha * fast_expm1(x / alpha) : x;
  }
};
struct CeluGradient {
  Real alpha;
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return x < 0.0f ? dy * fast_exp(x / alpha) : dy;
  }
};

struct Gelu {
  FFRT_FUNCTION Real operator()(Real x) const {
    return 0.5f * x * (1.0f + fast_erf(x * Real(0.70710678118654752)));
  }
};
struct GeluGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    Real distribution = 0.5f * (1.0f + fast_erf(x * Real(0.70710678118654752)));
    Real density = Real(0.39894228040143268) * fast_exp(-0.5f * x * x);
    return dy * (distribution + x * density);
  }
};

/// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3).
struct GeluTanh {
  FFRT_FUNCTION static Real gate(Real x) {
    return fast_logistic(
        x * (Real(1.5957691216057308) + Real(0.071354816272600247) * x * x));
  }
  FFRT_FUNCTION Real operator()(Real x) const { return x * gate(x); }
};
struct GeluTanhGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    Real s = GeluTanh::gate(x),
         slope = Real(1.5957691216057308) + Real(0.21406444881780074) * x * x;
    return dy * s * (1.0f + x * (1.0f - s) * slope);
  }
};

struct Silu {
  FFRT_FUNCTION Real operator()(Real x) const { return x * fast_logistic(x); }
};
struct SiluGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    Real s = fast_logistic(x);
    return dy * s * (1.0f + x * (1.0f - s));
  }
};

/// To [alpha, beta]; beta where the bounds contradict each other.
struct Clip {
  Real alpha, beta;
  FFRT_FUNCTION Real operator()(Real x) const {
    Real y = x < alpha ? alpha : x;
    return y > beta ? beta : y;
  }
};
struct ClipGradient {
  Real alpha, beta;
  FFRT_FUNCTION Real operator()(Real dy, Real y) const {
    return (y > alpha) & (y < beta) ? dy : 0.0f;
  }
};

struct Sin {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_sin(x); }
};
struct SinGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy * fast_cos(x);
  }
};

struct Cos {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_cos(x); }
};
struct CosGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return -dy * fast_sin(x);
  }
};

struct Tan {
  FFRT_FUNCTION Real operator()(Real x) const {
    return fast_sin(x) / fast_cos(x);
  }
};
struct TanGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real y) const {
    return dy * (1.0f + y * y);
  }
};

struct Asin {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_asin(x); }
};
struct AsinGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy / std::sqrt((1.0f - x) * (1.0f + x));
  }
};

struct Acos {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_acos(x); }
};
struct AcosGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return -dy / std::sqrt((1.0f - x) * (1.0f + x));
  }
};

struct Atan {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_atan(x); }
};
struct AtanGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy / (1.0f + x * x);
  }
};

struct Sinh {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_sinh(x); }
};
struct SinhGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy * fast_cosh(x);
  }
};

struct Cosh {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_cosh(x); }
};
struct CoshGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy * fast_sinh(x);
  }
};

struct Asinh {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_asinh(x); }
};
struct AsinhGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy / std::sqrt(x * x + 1.0f);
  }
};

struct Acosh {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_acosh(x); }
};
struct AcoshGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy / std::sqrt((x - 1.0f) * (x + 1.0f));
  }
};

struct Atanh {
  FFRT_FUNCTION Real operator()(Real x) const { return fast_atanh(x); }
};
struct AtanhGradient {
  FFRT_FUNCTION Real operator()(Real dy, Real x) const {
    return dy / ((1.0f - x) * (1.0f + x));
  }
};

// Functions without gradient.

struct Sign {
  FFRT_FUNCTION Real operator()(Real x) const {
    return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
  }
};
struct Floor {
  FFRT_FUNCTION Real operator()(Real x) const { return std::floor(x); }
};
struct Ceil {
  FFRT_FUNCTION Real operator()(Real x) const { return std::ceil(x); }
};
/// Halves go to the even neighbour.
struct Round {
  FFRT_FUNCTION Real operator()(Real x) const { return std::rint(x); }
};

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

struct Add {
  FFRT_FUNCTION Real operator()(Real a, Real b) const { return a + b; }
};
struct Sub {
  FFRT_FUNCTION Real operator()(Real a, Real b) const { return a - b; }
};
struct Mul {
  FFRT_FUNCTION Real operator()(Real a, Real b) const { return a * b; }
};
struct Div {
  FFRT_FUNCTION Real operator()(Real a, Real b) const { return a / b; }
};
struct Pow {
  FFRT_FUNCTION Real operator()(Real a, Real b) const { return std::pow(a, b); }
};
/// What is left of a after whole b's, with the sign of a.
struct Fmod {
  FFRT_FUNCTION Real operator()(Real a, Real b) const {
    return std::fmod(a, b);
  }
};
/// What is not a number wins, as in numpy.
struct Min {
  FFRT_FUNCTION Real operator()(Real a, Real b) const {
    return (b < a) | (b != b) ? b : a;
  }
};
struct Max {
  FFRT_FUNCTION Real operator()(Real a, Real b) const { return larger(b, a); }
};
struct Prelu {
  FFRT_FUNCTION Real operator()(Real x, Real slope) const {
    return x < 0.0f ? slope * x : x;
  }
};

// Comparisons: 1 where they hold, else 0.

struct Equal {
  FFRT_FUNCTION Real operator()(Real a, Real b) const {
    return a == b ? 1.0f : 0.0f;
  }
};
struct Less {
  FFRT_FUNCTION Real operator()(Real a, Real b) const {
    return a < b ? 1.0f : 0.0f;
  }
};
struct LessOrEqual {
  FFRT_FUNCTION Real operator()(Real a, Real b) const {
    return a <= b ? 1.0f : 0.0f;
  }
};
struct Greater {
  FFRT_FUNCTION Real operator()(Real a, Real b) const {
    return a > b ? 1.0f : 0.0f;
  }
};
struct GreaterOrEqual {
  FFRT_FUNCTION Real operator()(Real a, Real b) const {
    return a >= b ? 1.0f : 0.0f;
  }
};

// Of the first operand, by the second one, and else 0.

struct Keep {
  FFRT_FUNCTION Real operator()(Real x, Real condition) const {
    return condition != 0.0f ? x : 0.0f;
  }
};
struct Drop {
  FFRT_FUNCTION Real operator()(Real x, Real condition) const {
    return condition != 0.0f ? 0.0f : x;
  }
};

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

struct Select {
  FFRT_FUNCTION Real operator()(Real condition, Real a, Real b) const {
    return condition != 0.0f ? a : b;
  }
};

} // namespace ffrt::fn

#endif // FFRT_FUNCTORS_H
