//===- MainFunction.h - the function of a step ------------------*- C++ -*-===//
//===----------------------------------------------------------------------===//
#ifndef FFC_IR_MAINFUNCTION_H
#define FFC_IR_MAINFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ffc {

/// `main`, which has a body; null after a diagnostic if there is none.
inline mlir::func::FuncOp mainFunction(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (main && !main.isExternal())
    return main;
  module.emitError("expected a function 'main' with a body");
  return nullptr;
}

} // namespace ffc

#endif // FFC_IR_MAINFUNCTION_H
