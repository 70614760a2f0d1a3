//===- Statements.h - the step of all ranks ---------------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_STATEMENTS_H
#define FFC_LIB_CODEGEN_STATEMENTS_H

#include "ffc/IR/Rank.h"

#include <array>
#include <string>
#include <tuple>
#include <vector>

namespace ffc::codegen {

/// The number of a task (rank::KernelOp::getTask()) that tells what is computed
/// again from what was (plan::TaskNumbers).
constexpr size_t kTaskInstance = 3;

/// What one statement of the text does on the ranks of every class: kernels of
/// one phase of an operator, a part of a reshard, or the offer of an output.
struct Statement {
  enum class Kind { Kernel, Reshard, Probe };
  Kind kind = Kind::Kernel;
  std::string op; ///< the operator's name; empty where nothing has one
  bool inMicroBatch = true;
  /// Of what is computed again in the backward pass.
  bool isAgain = false;
  /// By class, in the order of the module; for many classes empty.
  std::vector<llvm::SmallVector<mlir::Operation *>> actions;

  /// Any of its actions.
  mlir::Operation *first() const;
};

/// Any of the actions of classes; there must be one.
mlir::Operation *
firstOf(llvm::ArrayRef<llvm::SmallVector<mlir::Operation *>> actions);

/// The statements of a step in their order, of which the actions of each class
/// are a subsequence. Fails after a diagnostic where the classes' numbers of
/// statements do not ascend, differ in what they are of, or are missing. A
/// single class needs none.
mlir::FailureOr<std::vector<Statement>>
statementsOf(llvm::ArrayRef<rank::FuncOp> classes);

/// What the actions of a statement have in common: kind, operator, phase, what
/// is resharded, and whether it is a reshard or something else of that.
using StatementKey = std::array<int64_t, 5>;
StatementKey keyOf(mlir::Operation *action);

/// Does an operator of a step go on after another one began: do operators take
/// turns, micro-batch by micro-batch?
bool isPipeline(llvm::ArrayRef<Statement> statements);

/// What a rank is to what is communicated. As what it starts and waits, and
/// sends and receives, it does in different places of a step.
struct Role {
  bool waits = false, sends = false, receives = false;
  bool operator<(const Role &o) const {
    return std::tie(waits, sends, receives) <
           std::tie(o.waits, o.sends, o.receives);
  }
};
/// Of actions of a statement, of which there must be one.
Role roleOf(llvm::ArrayRef<mlir::Operation *> actions);

/// True for what is a part of a statement.
bool isAction(mlir::Operation *op);

/// What a reshard communicates: "b <- a", its value, "b" if they are one.
std::string transferOf(mlir::Operation *op);

// The words of tables (runtime/include/ffrt/tables.h) for what is called
// otherwise in `rank`.

std::string wordOf(plan::ElementType type);
/// What a copy does with its target.
llvm::StringRef wordOf(rank::CopyOp op);
/// The reduction of a collective; of those that reduce nothing any.
llvm::StringRef reductionOf(rank::CollectiveOp op);
/// Shape and first coordinates of a buffer on number `index` of the class's
/// ranks. Packed intervals are seen as a box from the first one on.
struct LocalBox {
  plan::Shape shape, lo;
};
LocalBox boxOf(rank::BufferOp op, size_t index);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_STATEMENTS_H
