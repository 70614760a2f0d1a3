//===- UnaryTable.h - the element-wise functions of one operand -*- C++ -*-===//
#ifndef FFC_LIB_IR_UNARYTABLE_H
#define FFC_LIB_IR_UNARYTABLE_H

#include "ffc/IR/FF.h"

#include <cmath>

namespace ffc::ff {

/// A row of the table: everything the compiler knows about one function.
struct UnaryFunction {
  const char *name;     ///< operator family
  const char *forward;  ///< kernel {x} -> {y}
  const char *backward; ///< kernel {dy, saved} -> {dx}; null: `forward` on dy
  double (*value)(double x, double alpha);
  /// dy/dx; `saved` is x if `savesOperand`, else y.
  double (*slope)(double saved, double alpha);
  bool savesOperand;
  bool hasAlpha;
  double forwardFlops, backwardFlops;
};

/// Rows in the order of UnaryKind.
inline constexpr UnaryFunction kUnaryTable[] = {
    {"relu", "relu_forward", "relu_backward",
     [](double x, double) { return x > 0 ? x : 0.0; },
     [](double y, double) { return y > 0 ? 1.0 : 0.0; }, false, false, 1, 1},
    {"sigmoid", "sigmoid_forward", "sigmoid_backward",
     [](double x, double) { return 1 / (1 + std::exp(-x)); },
     [](double y, double) { return y * (1 - y); }, false, false, 10, 3},
    {"tanh", "tanh_forward", "tanh_backward",
     [](double x, double) { return std::tanh(x); },
     [](double y, double) { return 1 - y * y; }, false, false, 12, 3},
    {"leaky_relu", "leaky_relu_forward", "leaky_relu_backward",
     [](double x, double alpha) { return x < 0 ? alpha * x : x; },
     [](double x, double alpha) { return x < 0 ? alpha : 1.0; }, true, true, 2,
     2},
    {"scale", "scale", nullptr,
     [](double x, double alpha) { return alpha * x; },
     [](double, double alpha) { return alpha; }, true, true, 1, 1},
};

static_assert(std::size(kUnaryTable) == getMaxEnumValForUnaryKind() + 1,
              "one row per UnaryKind");

inline const UnaryFunction &unaryFunction(UnaryKind kind) {
  return kUnaryTable[static_cast<size_t>(kind)];
}

} // namespace ffc::ff

#endif // FFC_LIB_IR_UNARYTABLE_H
