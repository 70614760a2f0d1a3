//===- StateOrder.cpp - states are read before they are updated -----------===//

#include "StateOrder.h"

#include "ffc/IR/FF.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// The last other reader, behind `op`, of a state that it writes over; null if
/// there is none.
static Operation *lastReader(PartitionableInterface op) {
  Operation *last = op;
  SmallVector<Value> operands = op.getOperandSlots();
  for (auto [result, operand] : op.getRules().inPlace)
    if (auto state = operands[operand].getDefiningOp<StateOp>())
      for (Operation *reader : state.getResult().getUsers())
        if (last->isBeforeInBlock(reader))
          last = reader;
  return last == op.getOperation() ? nullptr : last;
}

/// Moves `op`, and what needs its results and is not behind `place`, there;
/// false if `place` itself needs them.
static bool moveBehind(Operation *place, Operation *op) {
  llvm::SetVector<Operation *> moved;
  moved.insert(op);
  for (size_t i = 0; i < moved.size(); ++i)
    for (Operation *user : moved[i]->getUsers())
      if (!place->isBeforeInBlock(user))
        moved.insert(user);
  // It reads what is there before and what comes of it: nothing helps.
  if (moved.contains(place))
    return false;
  SmallVector<Operation *> inOrder = moved.takeVector();
  llvm::sort(inOrder,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *each : inOrder) {
    each->moveAfter(place);
    place = each;
  }
  return true;
}

void ffc::putUpdatesBehindReads(Block &block) {
  // Only what is stored is written over what was there.
  llvm::SetVector<Operation *> updates;
  for (auto store : block.getOps<StoreOp>())
    if (auto op = store.getValue().getDefiningOp<PartitionableInterface>())
      updates.insert(op);
  // What moves with an update may read another state, whose update is in front
  // of it then. Moves go towards the end; those that chase each other do so for
  // ever, so there is a bound.
  bool hasMoved = true;
  for (size_t round = 0; hasMoved && round <= updates.size(); ++round) {
    hasMoved = false;
    for (Operation *op : updates)
      if (Operation *reader = lastReader(cast<PartitionableInterface>(op)))
        hasMoved |= moveBehind(reader, op);
  }
}
