//===- LossOperands.h - what a loss compares with what ----------*- C++ -*-===//
#ifndef FFC_LIB_PASSES_LOSSOPERANDS_H
#define FFC_LIB_PASSES_LOSSOPERANDS_H

#include "ffc/IR/FF.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace ffc {

struct LossOperands {
  mlir::Value x;      ///< logits, predictions, or the model's own loss
  mlir::Value target; ///< a new argument of the function; null of "none"
  int64_t axis = 0;   ///< that of the classes, of "cross-entropy"
};

/// Of the first `ff.output` of a forward graph, for --loss=`kind`. A softmax or
/// sigmoid that the loss contains is looked through. `classAxis` is that of
/// cross-entropy, counted from the end if negative. Emits a diagnostic and
/// fails where the model has no such loss.
mlir::FailureOr<LossOperands> lossOperands(mlir::func::FuncOp main,
                                           llvm::StringRef kind,
                                           std::optional<int64_t> classAxis);

} // namespace ffc

#endif // FFC_LIB_PASSES_LOSSOPERANDS_H
