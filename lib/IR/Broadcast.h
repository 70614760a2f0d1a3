//===- Broadcast.h - operators whose operands broadcast ---------*- C++ -*-===//
#ifndef FFC_LIB_IR_BROADCAST_H
#define FFC_LIB_IR_BROADCAST_H

#include "RuleHelpers.h"

namespace ffc::ff {

/// The common type that the values broadcast to. They do.
mlir::RankedTensorType broadcastType(llvm::ArrayRef<mlir::Value> values);

/// Fails unless the operands broadcast to the shape of the only result.
mlir::LogicalResult verifyBroadcast(mlir::Operation *op);

/// The rules of such an operator, whose results all have one shape, computed
/// element by element by `kernel`.
plan::OpRules broadcastRules(mlir::Operation *op, llvm::StringRef kernel,
                             double flopsPerPoint);

} // namespace ffc::ff

#endif // FFC_LIB_IR_BROADCAST_H
