//===- RuleHelpers.h - what the operators' rules have in common -*- C++ -*-===//
#ifndef FFC_LIB_IR_RULEHELPERS_H
#define FFC_LIB_IR_RULEHELPERS_H

#include "ffc/IR/FF.h"

namespace ffc::ff {

/// Shape of a statically shaped tensor value.
plan::Shape shapeOf(mlir::Value value);

/// Name of dimension `d` of a tensor of rank `rank` in strategies: n, c, h, w;
/// rank 1: c; from rank 5 on n, c, d2, d3, ...
std::string dimName(int d, int rank);

/// One iteration dimension per dimension of `shape`, named by `dimName`; n is a
/// sample dimension, the others are attributes.
std::vector<plan::IterDim> dimsByRank(const plan::Shape &shape);

/// Tensor dimension i is iteration dimension i.
plan::Access
identityAccess(int rank, plan::MemoryOrder order = plan::MemoryOrder::Follow);

/// The access, by a kernel that takes rows of any pitch.
plan::Access pitched(plan::Access access);

/// `operand` broadcast to `result` as in numpy; iteration dimensions are those
/// of the result. An operand of the result's shape follows memory orders,
/// others are row-major.
plan::Access broadcastAccess(const plan::Shape &operand,
                             const plan::Shape &result);

/// The rules of an operator that is one kernel call per tile; the dimensions in
/// `unsplit` cannot be split.
plan::OpRules onePhaseRules(std::vector<plan::IterDim> dims, plan::Phase phase,
                            std::vector<int> unsplit = {});

/// The rules of a kernel whose `operands` operands and one result all have
/// `shape`; a tile reads what it writes.
plan::OpRules pointwiseRules(const plan::Shape &shape, int operands,
                             llvm::StringRef kernel, double flopsPerPoint);
/// The same for a kernel that computes element by element, so that its result
/// may overwrite any operand.
plan::OpRules elementwiseRules(const plan::Shape &shape, int operands,
                               llvm::StringRef kernel, double flopsPerPoint);

/// Location of an operator built as part of the gradient of `op`:
/// "<node>.backward", followed by ".<part>" if there is more than one.
mlir::Location gradientLoc(mlir::Operation *op, const llvm::Twine &part = "");

/// The configuration of the forward operator carries over to `made`, a part of
/// its gradient, through the tensor in slot `ownerSlot` of the one and
/// `ownSlot` of the other. For operators whose dimensions are named by
/// position.
void carryThrough(mlir::Operation *made, int64_t ownerSlot, int64_t ownSlot);

/// Sums `grad`, whose shape `target` was broadcast to, over the broadcast
/// dimensions. Operators are built as part of the gradient of `op`, with names
/// that start with `prefix`.
mlir::Value sumToShape(mlir::OpBuilder &builder, mlir::Operation *op,
                       llvm::StringRef prefix, mlir::Value grad,
                       mlir::RankedTensorType target);

/// True for operators marked as part of a gradient (`ff.role`). Operators that
/// serve as their own gradient name their dimensions so that a configuration
/// carries over by name.
bool isGradient(mlir::Operation *op);

/// Common constraint of all operators: tensors are static and not empty.
mlir::LogicalResult verifyTensors(mlir::Operation *op);

/// Fails unless the operands of a product have one element type, and the others
/// the same, or f32 if it has 16 bits.
mlir::LogicalResult verifyMultiplied(mlir::Operation *op,
                                     mlir::ValueRange operands,
                                     mlir::ValueRange others);

/// Fails unless `operand` has the type `expected`, or a narrow one of its shape
/// instead of f32. `name`: in messages; absent operands are fine.
mlir::LogicalResult verifyNarrowable(mlir::Operation *op, llvm::StringRef name,
                                     mlir::Value operand,
                                     mlir::RankedTensorType expected);

/// Fails unless `axes` are distinct dimensions of a tensor of rank `rank` in
/// ascending order, at least one. `name`: of the attribute.
mlir::LogicalResult verifyAxes(mlir::Operation *op,
                               llvm::ArrayRef<int64_t> axes, int64_t rank,
                               llvm::StringRef name = "axes");

/// Fails unless the type of result number `index` is `expected`.
mlir::LogicalResult verifyResultType(mlir::Operation *op,
                                     mlir::RankedTensorType expected,
                                     unsigned index = 0);

/// The same of what may be narrow (NarrowingInterface) instead of `expected`.
mlir::LogicalResult verifyNarrowedType(NarrowingInterface op,
                                       mlir::RankedTensorType expected,
                                       unsigned index = 0);

} // namespace ffc::ff

#endif // FFC_LIB_IR_RULEHELPERS_H
