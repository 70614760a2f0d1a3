//===- NameOf.h - names in locations ----------------------------*- C++ -*-===//
#ifndef FFC_IR_NAMEOF_H
#define FFC_IR_NAMEOF_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

namespace ffc {

/// The name in `loc` (a NameLoc, possibly fused), or "". Both dialects carry
/// the ONNX node's name so.
llvm::StringRef nameOf(mlir::Location loc);

} // namespace ffc

#endif // FFC_IR_NAMEOF_H
