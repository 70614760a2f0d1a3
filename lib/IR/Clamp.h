//===- Clamp.h - operators that cut a result to bounds ----------*- C++ -*-===//
//
// What the implementations of ClampingInterface share.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IR_CLAMP_H
#define FFC_LIB_IR_CLAMP_H

#include "ffc/IR/FF.h"

namespace ffc::ff {

/// The kernel argument `clamp`: the bounds, of which there may be none.
mlir::NamedAttribute clampArg(ClampingInterface op);

/// Flops per element of the clamped result.
double clampFlops(ClampingInterface op);

/// The gradient of what `op` clamps, given that of the clamped result. An
/// operator is built where there are bounds.
mlir::Value clampGradient(mlir::OpBuilder &builder, ClampingInterface op,
                          mlir::Value dy);

} // namespace ffc::ff

#endif // FFC_LIB_IR_CLAMP_H
