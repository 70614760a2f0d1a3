//===- RewriteRules.h - what the rules of `rewrite` share -------*- C++ -*-===//
#ifndef FFC_LIB_PASSES_REWRITERULES_H
#define FFC_LIB_PASSES_REWRITERULES_H

#include "UniqueNames.h"

#include "ffc/IR/FF.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ffc::rewriting {

/// RewriteMergeProducts.cpp: products of one operand with several parameters
/// become one product, whose result is cut; narrow ones (queries, keys and
/// values), and wide ones (the two halves of a gated layer).
size_t mergeNarrowProducts(mlir::func::FuncOp main);
size_t mergeWideProducts(mlir::func::FuncOp main);
/// RewriteMoveTransposes.cpp: transposes are moved up through element-wise
/// operators to others that they cancel with.
size_t moveTransposes(mlir::func::FuncOp main);
/// RewriteJoinSums.cpp: sums of products become one product, which sums over
/// what all of them do.
size_t joinSums(mlir::func::FuncOp main);
/// RewriteBatchProducts.cpp: small products of equal shapes become one batch of
/// them.
size_t batchProducts(mlir::func::FuncOp main);

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
/// The type of `value` with another shape.
mlir::RankedTensorType shaped(mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// Builds operators under names that nothing has yet.
class Maker {
public:
  explicit Maker(mlir::func::FuncOp main)
      : builder(main.getContext()), names(main.front()) {}

  void insertBefore(mlir::Operation *op) { builder.setInsertionPoint(op); }
  mlir::Location named(const llvm::Twine &wanted);
  /// `state`, which is read before `op` from now on.
  mlir::Value before(mlir::Operation *op, mlir::Value state);

  /// `value` in another shape; itself if it has that.
  mlir::Value reshape(const llvm::Twine &name, mlir::Value value,
                      llvm::ArrayRef<int64_t> shape);
  mlir::Value concat(const llvm::Twine &name,
                     llvm::ArrayRef<mlir::Value> operands, int64_t axis);
  mlir::Value slice(const llvm::Twine &name, mlir::Value value,
                    llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(const llvm::Twine &name, mlir::Value value,
                        llvm::ArrayRef<int64_t> order);

  /// `result`, of an operator that was just made for it, takes the place of
  /// `old`: its name, attributes and readers.
  void replace(mlir::Operation *old, mlir::Value result);

  mlir::OpBuilder builder; ///< where insertBefore() said

private:
  UniqueNames names;
};

} // namespace ffc::rewriting

#endif // FFC_LIB_PASSES_REWRITERULES_H
