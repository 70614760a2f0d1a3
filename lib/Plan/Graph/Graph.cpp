//===- Graph.cpp - the operator graph as the planner sees it --------------===//

#include "ffc/Plan/Graph.h"

#include <algorithm>

using namespace ffc::plan;

bool Graph::isAccumulated(ValueId id) const {
  const Value &value = values[id];
  return value.producer >= 0 && isRepeated(value.producer) &&
         std::any_of(value.uses.begin(), value.uses.end(),
                     [&](Use use) { return !isRepeated(use.op); });
}

ValueId Graph::slotValue(OpId id, int slot) const {
  const Op &op = ops[id];
  int operands = static_cast<int>(op.operands.size());
  if (slot < operands)
    return op.operands[slot];
  int results = static_cast<int>(op.results.size());
  return slot < operands + results ? op.results[slot - operands] : -1;
}

int Graph::firstSlot(OpId id, int slot) const {
  const ValueId value = slotValue(id, slot);
  if (value < 0)
    return slot;
  const std::vector<Use> &uses = values[value].uses;
  // An operator may read many values, and a value may have many readers.
  if (static_cast<size_t>(slot) <= uses.size()) {
    for (int first = 0; first < slot; ++first)
      if (slotValue(id, first) == value)
        return first;
    return slot;
  }
  for (const Use &use : uses)
    if (use.op == id)
      slot = std::min(slot, use.operand);
  return slot;
}

const TensorType &Graph::slotType(OpId id, int slot) const {
  const Op &op = ops[id];
  int visible = static_cast<int>(op.operands.size() + op.results.size());
  if (slot >= visible)
    return op.rules.internals[slot - visible];
  ValueId value = slotValue(id, slot);
  assert(value >= 0 && "absent operand or result has no type");
  return values[value].type;
}
