//===- MemoryOrders.cpp - order of the elements in memory -----------------===//

#include "MemoryOrders.h"

#include <algorithm>
#include <numeric>

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
  pitchRows();
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
    return access.pitches != Pitches::None && present(op, slot) &&
                   ofSlot(op, slot) == MemoryOrder::Pitched
               ? MemoryOrder::Pitched
               : access.order;
  for (const SlotRead &read : phase.reads)
    if (read.access.order == MemoryOrder::Follow && present(op, read.slot)) {
      bool sameRank = graph.slotType(op, read.slot).shape.size() ==
                      graph.slotType(op, slot).shape.size();
      return sameRank ? ofSlot(op, read.slot) : MemoryOrder::RowMajor;
    }
  return MemoryOrder::RowMajor;
}

//===----------------------------------------------------------------------===//
// Pitched rows
//===----------------------------------------------------------------------===//

/// Are the rows of a tensor apart in memory if they are pitched, but not by
/// much?
static bool isWorthAPitch(const Shape &shape) {
  constexpr int64_t kShare = 8; ///< of a row that is added at most
  if (shape.size() < 2)
    return false;
  const int64_t more = pitchOf(shape.back()) - shape.back();
  return more > 0 && more * kShare <= shape.back();
}

static bool isNarrow(ElementType type) {
  return type == ElementType::BF16 || type == ElementType::F16;
}

namespace {
/// Values, and internal tensors of operators, in classes of which all tensors
/// are pitched or none.
class PitchedTensors {
public:
  explicit PitchedTensors(const Graph &graph);
  /// By slots that are present.
  bool isPitched(OpId op, int slot) { return isPitched(numberOf(op, slot)); }
  bool isPitched(int tensor) {
    const int root = rootOf(tensor);
    return mayBe[root] && pays[root];
  }

private:
  void addInternals();
  void visit(OpId id, const Phase &phase);
  /// Values have their own numbers, internal tensors those behind.
  int numberOf(OpId id, int slot) const {
    const ValueId value = graph.slotValue(id, slot);
    const Op &op = graph.op(id);
    return value >= 0
               ? value
               : firstInternal[id] + slot -
                     static_cast<int>(op.operands.size() + op.results.size());
  }
  int rootOf(int tensor) {
    while (parents[tensor] != tensor)
      tensor = parents[tensor] = parents[parents[tensor]];
    return tensor;
  }
  void join(int a, int b) {
    a = rootOf(a);
    b = rootOf(b);
    mayBe[a] = mayBe[a] && mayBe[b];
    pays[a] = pays[a] || pays[b];
    parents[b] = a;
  }

  const Graph &graph;
  std::vector<int> firstInternal; ///< by operator
  std::vector<int> parents;
  std::vector<char> mayBe, pays; ///< of classes, at their roots
};
} // namespace

PitchedTensors::PitchedTensors(const Graph &graph) : graph(graph) {
  for (const Value &value : graph.values)
    mayBe.push_back(value.kind == ValueKind::Activation &&
                    isNarrow(value.type.type) &&
                    isWorthAPitch(value.type.shape));
  for (const State &state : graph.states)
    if (state.written >= 0)
      mayBe[state.written] = false;
  const bool any = std::find(mayBe.begin(), mayBe.end(), true) != mayBe.end();
  addInternals();
  pays.resize(mayBe.size());
  parents.resize(mayBe.size());
  std::iota(parents.begin(), parents.end(), 0);
  if (any)
    for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
      for (const Schedule &schedule : graph.op(id).rules.schedules)
        for (const Phase &phase : schedule.phases)
          visit(id, phase);
}

void PitchedTensors::addInternals() {
  for (const Op &op : graph.ops) {
    firstInternal.push_back(static_cast<int>(mayBe.size()));
    for (const TensorType &type : op.rules.internals)
      mayBe.push_back(isWorthAPitch(type.shape));
  }
}

void PitchedTensors::visit(OpId id, const Phase &phase) {
  const Op &op = graph.op(id);
  const auto internals =
      static_cast<int>(op.operands.size() + op.results.size());
  int same = -1; // one of those of which the kernel needs one pitch
  auto touch = [&](int slot, const Access &access) {
    if (slot < internals && graph.slotValue(id, slot) < 0)
      return;
    const int tensor = numberOf(id, slot), root = rootOf(tensor);
    if (access.order != MemoryOrder::RowMajor ||
        access.pitches == Pitches::None)
      mayBe[root] = false;
    else if (op.multiplies)
      pays[root] = true;
    if (access.pitches != Pitches::Same)
      return;
    if (same >= 0)
      join(same, tensor);
    same = tensor;
  };
  for (const SlotRead &read : phase.reads)
    touch(read.slot, read.access);
  for (const SlotWrite &write : phase.writes)
    touch(write.slot, write.access);
}

void MemoryOrders::pitchRows() {
  PitchedTensors tensors(graph);
  for (ValueId id = 0; id < static_cast<ValueId>(values.size()); ++id)
    if (tensors.isPitched(id))
      values[id] = MemoryOrder::Pitched;
  for (OpId id = 0; id < static_cast<OpId>(internals.size()); ++id) {
    const Op &op = graph.op(id);
    const auto first = static_cast<int>(op.operands.size() + op.results.size());
    for (size_t i = 0; i < internals[id].size(); ++i)
      if (tensors.isPitched(id, first + static_cast<int>(i)))
        internals[id][i] = MemoryOrder::Pitched;
  }
}
