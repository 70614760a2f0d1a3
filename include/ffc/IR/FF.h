//===- FF.h - the training graph dialect ------------------------*- C++ -*-===//
#ifndef FFC_IR_FF_H
#define FFC_IR_FF_H

#include "ffc/IR/NameOf.h"
#include "ffc/Plan/Rules.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ffc/IR/FFOpsEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ffc/IR/FFOpsAttrs.h.inc"

#include "ffc/IR/FFOpsDialect.h.inc"

namespace ffc::ff {
/// Constraint of the operators with ClampingInterface.
mlir::LogicalResult verifyClamp(mlir::Operation *op);
/// Constraint of the operators with AddingInterface.
mlir::LogicalResult verifyAddend(mlir::Operation *op);
/// Is the element type bf16 or f16?
bool isNarrow(mlir::Value value);
/// The type in which kernels compute with a tensor of `type`: f32 where that is
/// narrow.
mlir::RankedTensorType wideType(mlir::Type type);
/// A cast of f32 to bf16 or f16, which an element-wise kernel does as it
/// writes.
bool isNarrowing(mlir::Operation *op);
/// A cast of bf16 or f16 to f32, which such a kernel does as it reads.
bool isWidening(mlir::Operation *op);
/// An operator that the body of ff.fused may hold beside casts.
bool isElementwise(mlir::Operation *op);
struct Optimizer;
} // namespace ffc::ff

#include "ffc/IR/FFInterfaces.h.inc"

#define GET_OP_CLASSES
#include "ffc/IR/FFOps.h.inc"

namespace ffc::ff {

/// Names of the discardable attributes described with the dialect.
inline constexpr llvm::StringLiteral kConfigAttr = "ff.config";
inline constexpr llvm::StringLiteral kOwnerAttr = "ff.owner";
inline constexpr llvm::StringLiteral kCarryAttr = "ff.carry";
inline constexpr llvm::StringLiteral kRoleAttr = "ff.role";
/// Of the function of an evaluation, what its outputs rows/... are: "losses",
/// "classes", "numbers" or "logits", as ffrt::EvaluationRows.
inline constexpr llvm::StringLiteral kRowsAttr = "ff.rows";
/// What kRoleAttr may say; forward operators have none.
inline constexpr llvm::StringLiteral kLossRole = "loss";
inline constexpr llvm::StringLiteral kGradientRole = "gradient";
inline constexpr llvm::StringLiteral kUpdateRole = "update";
/// On the main function: how often a step does what comes before the updates
/// (plan::Graph::microBatches); 1 if it is not there.
inline constexpr llvm::StringLiteral kMicroBatchesAttr = "ff.micro_batches";
/// On the main function: micro-batches of a strategy's pipeline, by how many
/// forward passes its stages are ahead, and 1 if they defer the gradients of
/// weights, else 0 (plan::PipelineSchedule); no pipeline if it is not there.
inline constexpr llvm::StringLiteral kPipelineAttr = "ff.pipeline";
/// On the main function: GPUs round the operands of products to TF32.
inline constexpr llvm::StringLiteral kTf32Attr = "ff.tf32";
inline constexpr llvm::StringLiteral kAliasesAttr = "ff.aliases";
inline constexpr llvm::StringLiteral kNameAttr = "ff.name";
/// The kernel argument that keys random numbers; it changes nothing about the
/// work.
inline constexpr llvm::StringLiteral kRandomKeyArg = "key";
/// The kernel argument of ClampingInterface.
inline constexpr llvm::StringLiteral kClampArg = "clamp";

/// May `op` add a tensor of `type` to its result?
bool takesAddend(AddingInterface op, mlir::Type type);

inline bool hasRole(mlir::Operation *op, llvm::StringRef role) {
  auto attr = op->getAttrOfType<mlir::StringAttr>(kRoleAttr);
  return attr && attr.getValue() == role;
}

using ffc::nameOf;
/// The node name of an operator.
inline llvm::StringRef nameOf(mlir::Operation *op) {
  return nameOf(op->getLoc());
}

/// Shape and element type of a statically shaped ranked tensor.
plan::TensorType tensorTypeOf(mlir::Type type);

} // namespace ffc::ff

#endif // FFC_IR_FF_H
