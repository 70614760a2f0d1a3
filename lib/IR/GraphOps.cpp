//===- GraphOps.cpp - ff.state, ff.store and ff.output --------------------===//
//
// Constraints between operators are checked once per block, by the first or
// last operator of the kind, so that verification stays linear.
//
//===----------------------------------------------------------------------===//

#include "RuleHelpers.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// True if no `Op` stands before `op` in its block.
template <class Op> static bool isFirstInBlock(Op op) {
  auto others = op->getBlock()->template getOps<Op>();
  return *others.begin() == op;
}

/// True if no `Op` stands after `op` in its block.
template <class Op> static bool isLastInBlock(Op op) {
  for (Operation &other : llvm::reverse(*op->getBlock()))
    if (isa<Op>(other))
      return &other == op.getOperation();
  return false;
}

/// Fails at the first `Op` of `block` whose name an earlier one has.
template <class Op>
static LogicalResult verifyUniqueNames(Block *block, StringRef what) {
  llvm::StringMap<Op> seen;
  for (Op op : block->getOps<Op>()) {
    auto [it, isNew] = seen.try_emplace(op.getName(), op);
    if (isNew)
      continue;
    InFlightDiagnostic error = op.emitOpError("expected a unique name, found ")
                               << what << " '" << op.getName() << "' again";
    error.attachNote(it->second.getLoc()) << "the first one";
    return error;
  }
  return success();
}

/// Constraint 5 of all states.
static LogicalResult verifyCopies(Block *block) {
  llvm::StringMap<StateOp> states;
  for (StateOp state : block->getOps<StateOp>())
    states.try_emplace(state.getName(), state);
  for (StateOp copy : block->getOps<StateOp>()) {
    if (!copy.getOf())
      continue;
    StateOp of = states.lookup(*copy.getOf());
    if (!of || of.getKind() != "parameter" ||
        of.getResult().getType() != wideType(copy.getResult().getType()) ||
        of.getInit() != copy.getInit())
      return copy.emitOpError()
             << "'" << copy.getName() << "': expected '" << *copy.getOf()
             << "' to be a parameter of type "
             << wideType(copy.getResult().getType()) << " and the same init";
  }
  return success();
}

LogicalResult StateOp::verify() {
  if (failed(verifyTensors(*this))) // constraint 3
    return failure();
  // Constraint 2.
  StringRef kind = getKind();
  if (!llvm::is_contained(
          {"parameter", "slot", "statistic", "constant", "copy", "average"},
          kind))
    return emitOpError() << "'" << getName()
                         << "': expected kind parameter, slot, statistic, "
                            "constant, copy or average, found '"
                         << kind << "'";
  // Constraint 5.
  if ((kind == "copy" || kind == "average") != getOf().has_value() ||
      (getOf() && (kind == "copy") != isNarrow(getResult())))
    return emitOpError() << "'" << getName()
                         << "': expected 'of' of copies, of a type of 16 bits, "
                            "and of averages, of a wider one, and of nothing "
                            "else";
  // Constraint 4.
  const InitKind init = getInit().getKind();
  if ((init == InitKind::Upper || init == InitKind::Lower) &&
      cast<RankedTensorType>(getType()).getRank() < 2)
    return emitOpError() << "'" << getName() << "': expected init "
                         << stringifyInitKind(init)
                         << " of a matrix or several, found " << getType();
  // Constraint 1.
  if (!isFirstInBlock(*this))
    return success();
  if (failed(verifyUniqueNames<StateOp>((*this)->getBlock(), "state")))
    return failure();
  return verifyCopies((*this)->getBlock());
}

/// Constraint 1 of one store.
static LogicalResult verifyStored(StoreOp store, StateOp state) {
  if (!state)
    return store.emitOpError("expected the name of a state, found '")
           << store.getName() << "'";
  Type expected = state.getResult().getType();
  Type found = store.getValue().getType();
  if (expected == found && state.getKind() != "constant")
    return success();
  InFlightDiagnostic error = store.emitOpError()
                             << "'" << store.getName() << "': expected ";
  if (expected != found)
    error << "a value of type " << expected << ", found " << found;
  else
    error << "a state that may change, found a constant";
  error.attachNote(state.getLoc()) << "the state";
  return error;
}

LogicalResult StoreOp::verify() {
  if (!isLastInBlock(*this))
    return success();
  // Constraint 1.
  llvm::StringMap<StateOp> states;
  for (StateOp state : (*this)->getBlock()->getOps<StateOp>())
    states.try_emplace(state.getName(), state);
  for (StoreOp store : (*this)->getBlock()->getOps<StoreOp>())
    if (failed(verifyStored(store, states.lookup(store.getName()))))
      return failure();
  // Constraint 2.
  return verifyUniqueNames<StoreOp>((*this)->getBlock(), "store to");
}

LogicalResult OutputOp::verify() {
  if (!isLastInBlock(*this))
    return success();
  // Constraint 1.
  return verifyUniqueNames<OutputOp>((*this)->getBlock(), "output");
}
