//===- NarrowValues.cpp - which values a step rounds ----------------------===//

#include "NarrowValues.h"

#include "Absorption.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static bool isF32(Value value) { return getElementTypeOrSelf(value).isF32(); }

static bool moves(Operation *op) {
  auto moving = dyn_cast<PartitionableInterface>(op);
  return moving && moving.movesElements();
}

static bool isSum(Operation *op) {
  auto binary = dyn_cast<BinaryOp>(op);
  return binary && binary.getKind() == BinaryKind::Add;
}

/// Does the operator that makes `result` keep it in a register for the only one
/// that reads it, once both are fused?
static bool isTakenOver(OpResult result) {
  if (!result.hasOneUse())
    return false;
  Operation *reader = *result.getUsers().begin();
  if (auto activation = dyn_cast<UnaryOp>(reader))
    return bool(clamperOf(activation));
  return isSum(reader) && adderOf(result);
}

/// A summand whose producer adds the other one, which it wants wide.
static bool isAddedInProduct(Value value) {
  AddingInterface adding = adderOf(value);
  return adding && !adding.addsNarrow() && isSum(*value.getUsers().begin());
}

/// A product whose result has samples, not one that adds them up.
static bool multipliesSamples(PartitionableInterface op) {
  return !op.getMultipliedOperands().empty() &&
         llvm::any_of(op.getRules().dims, [](const plan::IterDim &dim) {
           return dim.kind == plan::DimKind::Sample;
         });
}

namespace {
/// What is computed of narrow values.
class Derivation {
public:
  explicit Derivation(Block &block) {
    for (Operation &op : block)
      if (hasRole(&op, kLossRole))
        losses.insert(ff::nameOf(&op));
  }

  /// In the order of the block.
  void add(OpResult result, bool isProductOperand) {
    if (isProductOperand || isDerived(result))
      derived.insert(result);
  }
  bool contains(Value value) const { return derived.contains(value); }

private:
  /// Is it a loss, or part of the gradient of one?
  bool isOfLoss(Operation *op) const {
    if (hasRole(op, kLossRole))
      return true;
    auto owner = op->getAttrOfType<StringAttr>(kOwnerAttr);
    return owner && losses.contains(owner.getValue());
  }
  bool isDerived(OpResult result) const;

  llvm::DenseSet<Value> derived;
  llvm::StringSet<> losses; ///< names
};
} // namespace

bool Derivation::isDerived(OpResult result) const {
  auto op = dyn_cast<PartitionableInterface>(result.getOwner());
  if (!op || !isF32(result) || isOfLoss(op))
    return false;
  auto isDerived = [&](Value operand) { return derived.contains(operand); };
  if (moves(op))
    return llvm::all_of(op->getOperands(), isDerived);
  if (isElementwise(op)) {
    // A product that adds a matrix writes what it adds up.
    if (llvm::any_of(op->getOperands(), isAddedInProduct))
      return false;
    // What is broadcast is a parameter or a statistic.
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(result.getType()).getShape();
    auto like = llvm::make_filter_range(op->getOperands(), [&](Value operand) {
      return cast<RankedTensorType>(operand.getType()).getShape() == shape;
    });
    return !like.empty() && llvm::all_of(like, isDerived);
  }
  auto narrowing = dyn_cast<NarrowingInterface>(op.getOperation());
  if (!narrowing || !narrowing.canNarrow(result))
    return false;
  if (!op.getMultipliedOperands().empty())
    return multipliesSamples(op);
  SmallVector<OpOperand *> operands = op.getNarrowable();
  return !operands.empty() && llvm::all_of(operands, [&](OpOperand *operand) {
    return isDerived(operand->get());
  });
}

namespace {
/// Values that differ only in where their elements lie.
struct Class {
  bool isMultiplied = false;
  bool isStored = false;   ///< not only in registers between kernels
  bool allDerived = true;  ///< of narrow values
  bool allReadable = true; ///< narrow, by all that read them

  void add(Value value);
  /// Narrow whatever it is computed of.
  bool isProductOperand() const { return allReadable && isMultiplied; }
  bool isNarrow() const {
    return isProductOperand() || (allReadable && allDerived && isStored);
  }
};

/// The classes of a block's values.
class Classes {
public:
  explicit Classes(Block &block) {
    for (Operation &op : block)
      if (moves(&op))
        for (Value operand : op.getOperands())
          sets.unionSets(op.getResult(0).getAsOpaquePointer(),
                         operand.getAsOpaquePointer());
  }
  Class &operator[](Value value) {
    return classes[sets.getOrInsertLeaderValue(value.getAsOpaquePointer())];
  }

private:
  llvm::EquivalenceClasses<void *> sets;
  llvm::DenseMap<void *, Class> classes;
};
} // namespace

void Class::add(Value value) {
  auto result = dyn_cast<OpResult>(value);
  Operation *producer = result ? result.getOwner() : nullptr;
  // What a step begins with is as it is.
  allReadable &=
      producer && isF32(value) && isa<PartitionableInterface>(producer);
  if (!allReadable)
    return;
  isStored |=
      !moves(producer) && !isElementwise(producer) && !isTakenOver(result);
  for (OpOperand &use : value.getUses()) {
    auto reader = dyn_cast<PartitionableInterface>(use.getOwner());
    if (!reader) {
      // A result of the model leaves the step as it is, all else is wide.
      isStored = true;
      allReadable &=
          isa<OutputOp>(use.getOwner()) && !use.getOwner()->hasAttr(kRoleAttr);
      continue;
    }
    const bool isProductOperand =
                   llvm::is_contained(reader.getMultipliedOperands(), &use),
               inRegisters = isElementwise(reader);
    isMultiplied |= isProductOperand;
    isStored |= !inRegisters && !moves(reader);
    allReadable &= isProductOperand || inRegisters || moves(reader) ||
                   llvm::is_contained(reader.getNarrowable(), &use);
  }
}

llvm::DenseSet<Value> ffc::narrowValuesOf(Block &block) {
  Classes classes(block);
  auto forAll = [&](auto f) {
    for (BlockArgument argument : block.getArguments())
      f(Value(argument));
    for (Operation &op : block)
      for (Value result : op.getResults())
        f(result);
  };
  forAll([&](Value value) { classes[value].add(value); });
  Derivation derivation(block);
  for (Operation &op : block)
    for (OpResult result : op.getResults())
      derivation.add(result, classes[result].isProductOperand());
  forAll([&](Value value) {
    classes[value].allDerived &= derivation.contains(value);
  });
  llvm::DenseSet<Value> narrow;
  forAll([&](Value value) {
    if (classes[value].isNarrow())
      narrow.insert(value);
  });
  return narrow;
}
