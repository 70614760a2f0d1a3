//===- UpdateHelpers.h - what updates by an optimizer share -----*- C++ -*-===//
#ifndef FFC_LIB_IR_UPDATEHELPERS_H
#define FFC_LIB_IR_UPDATEHELPERS_H

#include "ffc/IR/Optimizers.h"

namespace ffc::ff {

/// The optimizer of an operator with a kind and numbers.
template <class OpT> Optimizer optimizerOf(OpT op) {
  Optimizer optimizer(op.getKind());
  optimizer.hyper.assign(op.getHyper().begin(), op.getHyper().end());
  return optimizer;
}

/// Fails unless the operator has as many numbers as its kind, and as many slots
/// as the optimizer has with them.
template <class OpT> mlir::LogicalResult verifyOptimizer(OpT op) {
  const size_t numbers = optimizerInfo(op.getKind()).hyper.size();
  llvm::StringRef kind = stringifyOptimizerKind(op.getKind());
  if (op.getHyper().size() != numbers)
    return op.emitOpError("expected hyper of ")
           << numbers << " numbers for " << kind << ", found "
           << op.getHyper().size();
  const size_t slots = optimizerOf(op).slots().size();
  if (op.getSlots().size() != slots || op.getSlotsOut().size() != slots)
    return op.emitOpError("expected ")
           << slots << " slots and as many results after w_out for " << kind
           << ", found " << op.getSlots().size() << " and "
           << op.getSlotsOut().size();
  return mlir::success();
}

/// Fails unless `scale` is one element of the element type of `type`, or two.
mlir::LogicalResult verifyUpdateScale(mlir::Operation *op, mlir::Value scale,
                                      mlir::RankedTensorType type);

/// All of it, or of no tensor if that is null.
plan::Access accessOfUpdateScale(mlir::Value scale);

} // namespace ffc::ff

#endif // FFC_LIB_IR_UPDATEHELPERS_H
