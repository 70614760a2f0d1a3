//===- Marking.h - roles of the operators that a pass builds ----*- C++ -*-===//
#ifndef FFC_LIB_PASSES_MARKING_H
#define FFC_LIB_PASSES_MARKING_H

#include "UniqueNames.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <string>
#include <utility>

namespace ffc {

/// The operators that depend on nothing but state. Asked of values one by one,
/// each would go through all that it is made of.
class StateReaders {
public:
  explicit StateReaders(mlir::Block &block) {
    for (mlir::Operation &op : block)
      add(&op);
  }
  /// `op` is new; those that make its operands are known.
  void add(mlir::Operation *op) {
    if (llvm::all_of(op->getOperands(),
                     [&](mlir::Value v) { return contains(v); }))
      readers.insert(op);
    else
      readers.erase(op); // one that is gone may have stood there
  }
  bool contains(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op && (op->getNumOperands() == 0 || readers.contains(op));
  }

private:
  llvm::DenseSet<mlir::Operation *> readers;
};

/// Marks every operator made while it is alive with its role and owner, and
/// gives it a name of its own.
class Marking : public mlir::OpBuilder::Listener {
public:
  explicit Marking(mlir::Block &block) : names(block), stateReaders(block) {}

  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) override {
    stateReaders.add(op);
    mlir::OpBuilder builder(op->getContext());
    op->setAttr(ff::kRoleAttr, builder.getStringAttr(role));
    if (!owner.empty())
      op->setAttr(ff::kOwnerAttr, builder.getStringAttr(owner));
    if (carry)
      op->setAttr(ff::kCarryAttr,
                  builder.getDenseI64ArrayAttr({carry->first, carry->second}));
    if (llvm::isa<ff::PartitionableInterface>(op))
      names.rename(op);
  }

  llvm::StringRef role = ff::kGradientRole;
  std::string owner;
  std::optional<std::pair<int64_t, int64_t>> carry;
  UniqueNames names;
  StateReaders stateReaders;
};

/// Slot of `value` among the operands, then results, of `op`.
inline int64_t slotOf(mlir::Operation *op, mlir::Value value) {
  auto operands = llvm::cast<ff::PartitionableInterface>(op).getOperandSlots();
  if (auto it = llvm::find(operands, value); it != operands.end())
    return it - operands.begin();
  return operands.size() + llvm::cast<mlir::OpResult>(value).getResultNumber();
}

} // namespace ffc

#endif // FFC_LIB_PASSES_MARKING_H
