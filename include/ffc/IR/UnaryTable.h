//===- UnaryTable.h - the element-wise functions of one operand -*- C++ -*-===//
#ifndef FFC_IR_UNARYTABLE_H
#define FFC_IR_UNARYTABLE_H

#include "ffc/IR/FF.h"

#include <cmath>

namespace ffc::ff {

/// How the gradient of a function comes about.
enum class UnaryGradient {
  Kernel,   ///< by its backward kernel
  Itself,   ///< the function applied to dy
  Identity, ///< dy
  Zero,     ///< none
};

/// A row of the table: everything the compiler knows about one function.
struct UnaryFunction {
  const char *name;    ///< operator family
  const char *forward; ///< kernel {x} -> {y}
  UnaryGradient gradient;
  const char *backward; ///< kernel {dy, saved} -> {dx}; null if there is none
  double (*value)(double x, double alpha, double beta);
  /// dy/dx; `saved` is x if `savesOperand`, else y.
  double (*slope)(double saved, double alpha, double beta);
  bool savesOperand;
  /// How many of `alpha` and `beta` it has.
  int parameters;
  double forwardFlops, backwardFlops;
};

/// Density and distribution function of the standard normal distribution.
inline double normalDensity(double x) {
  return std::exp(-x * x / 2) * 0.39894228040143267794;
}
inline double normalDistribution(double x) {
  return 0.5 * (1 + std::erf(x * 0.70710678118654752440));
}
/// x cut to [0, 1]. What is not a number stays none.
inline double cut(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
/// (1 + tanh(u)) / 2 for u = sqrt(2 / pi) (x + 0.044715 x^3), what gelu_tanh
/// multiplies x with.
inline double gateOfGeluTanh(double x) {
  return logistic(1.59576912160573071176 * (x + 0.044715 * x * x * x));
}
/// log(1 + exp(x)) without overflow.
inline double softplus(double x) {
  return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

/// Rows in the order of UnaryKind.
inline constexpr UnaryFunction kUnaryTable[] = {
    {"relu", "relu_forward", UnaryGradient::Kernel, "relu_backward",
     [](double x, double, double) { return x < 0 ? 0.0 : x; },
     [](double y, double, double) { return y > 0 ? 1.0 : 0.0; }, false, 0, 1,
     1},
    {"sigmoid", "sigmoid_forward", UnaryGradient::Kernel, "sigmoid_backward",
     [](double x, double, double) { return logistic(x); },
     [](double y, double, double) { return y * (1 - y); }, false, 0, 10, 3},
    {"tanh", "tanh_forward", UnaryGradient::Kernel, "tanh_backward",
     [](double x, double, double) { return std::tanh(x); },
     [](double y, double, double) { return 1 - y * y; }, false, 0, 12, 3},
    {"leaky_relu", "leaky_relu_forward", UnaryGradient::Kernel,
     "leaky_relu_backward",
     [](double x, double a, double) { return x < 0 ? a * x : x; },
     [](double x, double a, double) { return x < 0 ? a : 1.0; }, true, 1, 2, 2},
    {"scale", "scale", UnaryGradient::Itself, nullptr,
     [](double x, double a, double) { return a * x; },
     [](double, double a, double) { return a; }, true, 1, 1, 1},
    {"shift", "shift", UnaryGradient::Identity, nullptr,
     [](double x, double a, double) { return x + a; },
     [](double, double, double) { return 1.0; }, true, 1, 1, 1},
    {"abs", "abs_forward", UnaryGradient::Kernel, "abs_backward",
     [](double x, double, double) { return std::fabs(x); },
     [](double x, double, double) { return double((x > 0) - (x < 0)); }, true,
     0, 1, 2},
    {"sqrt", "sqrt_forward", UnaryGradient::Kernel, "sqrt_backward",
     [](double x, double, double) { return std::sqrt(x); },
     [](double y, double, double) { return 0.5 / y; }, false, 0, 4, 5},
    {"exp", "exp_forward", UnaryGradient::Kernel, "exp_backward",
     [](double x, double, double) { return std::exp(x); },
     [](double y, double, double) { return y; }, false, 0, 10, 1},
    {"log", "log_forward", UnaryGradient::Kernel, "log_backward",
     [](double x, double, double) { return std::log(x); },
     [](double x, double, double) { return 1 / x; }, true, 0, 10, 4},
    {"erf", "erf_forward", UnaryGradient::Kernel, "erf_backward",
     [](double x, double, double) { return std::erf(x); },
     [](double x, double, double) {
       return 1.12837916709551257390 * std::exp(-x * x);
     },
     true, 0, 15, 12},
    {"reciprocal", "reciprocal_forward", UnaryGradient::Kernel,
     "reciprocal_backward", [](double x, double, double) { return 1 / x; },
     [](double y, double, double) { return -y * y; }, false, 0, 4, 2},
    {"softplus", "softplus_forward", UnaryGradient::Kernel, "softplus_backward",
     [](double x, double, double) { return softplus(x); },
     [](double x, double, double) { return logistic(x); }, true, 0, 20, 11},
    {"softsign", "softsign_forward", UnaryGradient::Kernel, "softsign_backward",
     [](double x, double, double) { return x / (1 + std::fabs(x)); },
     [](double y, double, double) {
       return (1 - std::fabs(y)) * (1 - std::fabs(y));
     },
     false, 0, 6, 4},
    {"hard_sigmoid", "hard_sigmoid_forward", UnaryGradient::Kernel,
     "hard_sigmoid_backward",
     [](double x, double a, double b) { return cut(a * x + b); },
     [](double y, double a, double) { return y > 0 && y < 1 ? a : 0.0; }, false,
     2, 4, 3},
    {"hard_swish", "hard_swish_forward", UnaryGradient::Kernel,
     "hard_swish_backward",
     [](double x, double, double) { return x * cut(x / 6 + 0.5); },
     [](double x, double, double) {
       return x <= -3 ? 0.0 : x >= 3 ? 1.0 : x / 3 + 0.5;
     },
     true, 0, 5, 5},
    {"elu", "elu_forward", UnaryGradient::Kernel, "elu_backward",
     [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; },
     [](double x, double a, double) { return x < 0 ? a * std::exp(x) : 1.0; },
     true, 1, 12, 12},
    {"selu", "selu_forward", UnaryGradient::Kernel, "selu_backward",
     [](double x, double a, double b) {
       return b * (x < 0 ? a * std::expm1(x) : x);
     },
     [](double x, double a, double b) {
       return b * (x < 0 ? a * std::exp(x) : 1.0);
     },
     true, 2, 13, 13},
    {"celu", "celu_forward", UnaryGradient::Kernel, "celu_backward",
     [](double x, double a, double) {
       return x < 0 ? a * std::expm1(x / a) : x;
     },
     [](double x, double a, double) { return x < 0 ? std::exp(x / a) : 1.0; },
     true, 1, 14, 12},
    {"gelu", "gelu_forward", UnaryGradient::Kernel, "gelu_backward",
     [](double x, double, double) { return x * normalDistribution(x); },
     [](double x, double, double) {
       return normalDistribution(x) + x * normalDensity(x);
     },
     true, 0, 18, 28},
    {"silu", "silu_forward", UnaryGradient::Kernel, "silu_backward",
     [](double x, double, double) { return x * logistic(x); },
     [](double x, double, double) {
       return logistic(x) * (1 + x * (1 - logistic(x)));
     },
     true, 0, 11, 14},
    {"clip", "clip_forward", UnaryGradient::Kernel, "clip_backward",
     [](double x, double a, double b) {
       double y = x < a ? a : x;
       return y > b ? b : y;
     },
     [](double y, double a, double b) { return y > a && y < b ? 1.0 : 0.0; },
     false, 2, 2, 3},
    {"sign", "sign_forward", UnaryGradient::Zero, nullptr,
     [](double x, double, double) { return x > 0   ? 1
                                           : x < 0 ? -1
                                                   : x; },
     [](double, double, double) { return 0.0; }, false, 0, 2, 1},
    {"floor", "floor_forward", UnaryGradient::Zero, nullptr,
     [](double x, double, double) { return std::floor(x); },
     [](double, double, double) { return 0.0; }, false, 0, 1, 1},
    {"ceil", "ceil_forward", UnaryGradient::Zero, nullptr,
     [](double x, double, double) { return std::ceil(x); },
     [](double, double, double) { return 0.0; }, false, 0, 1, 1},
    {"round", "round_forward", UnaryGradient::Zero, nullptr,
     [](double x, double, double) { return std::nearbyint(x); },
     [](double, double, double) { return 0.0; }, false, 0, 1, 1},
    {"gelu_tanh", "gelu_tanh_forward", UnaryGradient::Kernel,
     "gelu_tanh_backward",
     [](double x, double, double) { return x * gateOfGeluTanh(x); },
     [](double x, double, double) {
       double gate = gateOfGeluTanh(x);
       double slope = 1.59576912160573071176 * (1 + 3 * 0.044715 * x * x);
       return gate + x * gate * (1 - gate) * slope;
     },
     true, 0, 16, 24},
    {"sin", "sin_forward", UnaryGradient::Kernel, "sin_backward",
     [](double x, double, double) { return std::sin(x); },
     [](double x, double, double) { return std::cos(x); }, true, 0, 20, 21},
    {"cos", "cos_forward", UnaryGradient::Kernel, "cos_backward",
     [](double x, double, double) { return std::cos(x); },
     [](double x, double, double) { return -std::sin(x); }, true, 0, 20, 21},
    {"tan", "tan_forward", UnaryGradient::Kernel, "tan_backward",
     [](double x, double, double) { return std::tan(x); },
     [](double y, double, double) { return 1 + y * y; }, false, 0, 24, 3},
    {"asin", "asin_forward", UnaryGradient::Kernel, "asin_backward",
     [](double x, double, double) { return std::asin(x); },
     [](double x, double, double) { return 1 / std::sqrt(1 - x * x); }, true, 0,
     16, 8},
    {"acos", "acos_forward", UnaryGradient::Kernel, "acos_backward",
     [](double x, double, double) { return std::acos(x); },
     [](double x, double, double) { return -1 / std::sqrt(1 - x * x); }, true,
     0, 18, 8},
    {"atan", "atan_forward", UnaryGradient::Kernel, "atan_backward",
     [](double x, double, double) { return std::atan(x); },
     [](double x, double, double) { return 1 / (1 + x * x); }, true, 0, 16, 6},
    {"sinh", "sinh_forward", UnaryGradient::Kernel, "sinh_backward",
     [](double x, double, double) { return std::sinh(x); },
     [](double x, double, double) { return std::cosh(x); }, true, 0, 18, 16},
    {"cosh", "cosh_forward", UnaryGradient::Kernel, "cosh_backward",
     [](double x, double, double) { return std::cosh(x); },
     [](double x, double, double) { return std::sinh(x); }, true, 0, 16, 18},
    {"asinh", "asinh_forward", UnaryGradient::Kernel, "asinh_backward",
     [](double x, double, double) { return std::asinh(x); },
     [](double x, double, double) { return 1 / std::sqrt(x * x + 1); }, true, 0,
     24, 8},
    {"acosh", "acosh_forward", UnaryGradient::Kernel, "acosh_backward",
     [](double x, double, double) { return std::acosh(x); },
     [](double x, double, double) { return 1 / std::sqrt(x * x - 1); }, true, 0,
     22, 8},
    {"atanh", "atanh_forward", UnaryGradient::Kernel, "atanh_backward",
     [](double x, double, double) { return std::atanh(x); },
     [](double x, double, double) { return 1 / (1 - x * x); }, true, 0, 22, 6},
};

static_assert(std::size(kUnaryTable) == getMaxEnumValForUnaryKind() + 1,
              "one row per UnaryKind");

inline const UnaryFunction &unaryFunction(UnaryKind kind) {
  return kUnaryTable[static_cast<size_t>(kind)];
}

} // namespace ffc::ff

#endif // FFC_IR_UNARYTABLE_H
