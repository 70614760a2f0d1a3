//===- MemoryOrders.cpp - order of the dimensions in memory ---------------===//

#include "MemoryOrders.h"

using namespace ffc::plan;

MemoryOrders::MemoryOrders(const Graph &graph)
    : graph(graph), values(graph.values.size(), MemoryOrder::RowMajor),
      internals(graph.ops.size()) {
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const OpRules &rules = graph.op(id).rules;
    internals[id].resize(rules.internals.size(), MemoryOrder::RowMajor);
    // Schedules agree about results; the general ones have more internals.
    for (const Schedule &schedule : rules.schedules)
      for (const Phase &phase : schedule.phases)
        for (const SlotWrite &write : phase.writes)
          if (present(id, write.slot))
            ofSlot(id, write.slot) = of(id, phase, write.access, write.slot);
  }
}

MemoryOrder &MemoryOrders::ofSlot(OpId id, int slot) {
  ValueId value = graph.slotValue(id, slot);
  if (value >= 0)
    return values[value];
  const Op &op = graph.op(id);
  return internals[id][slot - op.operands.size() - op.results.size()];
}

bool MemoryOrders::present(OpId id, int slot) const {
  const Op &op = graph.op(id);
  return slot >= static_cast<int>(op.operands.size() + op.results.size()) ||
         graph.slotValue(id, slot) >= 0;
}

MemoryOrder MemoryOrders::of(OpId op, const Phase &phase, const Access &access,
                             int slot) const {
  if (access.order != MemoryOrder::Follow)
    return access.order;
  for (const SlotRead &read : phase.reads)
    if (read.access.order == MemoryOrder::Follow && present(op, read.slot)) {
      bool sameRank = graph.slotType(op, read.slot).shape.size() ==
                      graph.slotType(op, slot).shape.size();
      return sameRank ? const_cast<MemoryOrders *>(this)->ofSlot(op, read.slot)
                      : MemoryOrder::RowMajor;
    }
  return MemoryOrder::RowMajor;
}
