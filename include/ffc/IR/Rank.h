//===- Rank.h - the per-rank program dialect --------------------*- C++ -*-===//
#ifndef FFC_IR_RANK_H
#define FFC_IR_RANK_H

#include "ffc/IR/NameOf.h"
#include "ffc/Plan/Action.h"
#include "ffc/Plan/CollectiveSchedule.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#define GET_ATTRDEF_CLASSES
#include "ffc/IR/RankOpsAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ffc/IR/RankOpsTypes.h.inc"

#include "ffc/IR/RankOpsDialect.h.inc"

#define GET_OP_CLASSES
#include "ffc/IR/RankOps.h.inc"

namespace ffc::rank {

/// The type of a buffer's elements: f32, f64, bf16, f16, i32, i64, ui8 or i1.
mlir::Type typeOf(plan::ElementType type, mlir::MLIRContext *context);
/// Its inverse; none for other types.
std::optional<plan::ElementType> elementTypeOf(mlir::Type type);

/// The word of `combine` for the mean over the micro-batches of a step.
inline constexpr llvm::StringLiteral kMeanWord = "mean";
/// The words "none", "sum" and "max" of `combine` and `reduce`.
llvm::StringRef wordOf(plan::Reduction reduction);
/// "row_major", "channels_last" or "pitched".
llvm::StringRef wordOf(plan::MemoryOrder order);
/// None for other words.
std::optional<plan::MemoryOrder> memoryOrderOf(llvm::StringRef word);
plan::Reduction reductionOf(llvm::StringRef word);

/// The inverse of plan::str(CollectiveKind) and of plan::str(
/// CollectiveAlgorithm); words must be those.
plan::CollectiveKind collectiveKindOf(llvm::StringRef word);
plan::CollectiveAlgorithm algorithmOf(llvm::StringRef word);

/// A region as a row of a buffer's `region`.
llvm::SmallVector<int64_t> encodeRegion(const plan::Region &region);
/// Its inverse; none unless the row describes a well-formed region of `rank`
/// dimensions.
std::optional<plan::Region> decodeRegion(llvm::ArrayRef<int64_t> row,
                                         size_t rank);

/// One row per rank, or a single row when all are equal.
PerAttr foldRows(mlir::MLIRContext *context,
                 llvm::ArrayRef<mlir::DenseI64ArrayAttr> rows);

} // namespace ffc::rank

#endif // FFC_IR_RANK_H
