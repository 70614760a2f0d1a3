//===- OperatorOrder.cpp - the operators of a step, in order --------------===//

#include "OperatorOrder.h"

#include <algorithm>

using namespace ffc::plan;

/// By operator: is it an update, or needs one?
static std::vector<bool> findUpdates(const Graph &graph) {
  std::vector<bool> updates;
  for (const Op &op : graph.ops)
    updates.push_back(
        op.role == OpRole::Update ||
        std::any_of(
            op.operands.begin(), op.operands.end(), [&](ValueId operand) {
              return operand >= 0 && graph.value(operand).producer >= 0 &&
                     updates[graph.value(operand).producer];
            }));
  return updates;
}

OperatorOrder::OperatorOrder(const Graph &graph, bool overlaps)
    : places(graph.ops.size() + 1), overlapping(overlaps) {
  const auto end = static_cast<OpId>(graph.ops.size());
  for (OpId op = 0; op < end; ++op)
    ops.push_back(op);
  if (overlaps || graph.microBatches > 1) {
    const std::vector<bool> updates = findUpdates(graph);
    std::stable_partition(ops.begin(), ops.end(),
                          [&](OpId op) { return !updates[op]; });
  }
  for (OpId place = 0; place < end; ++place) {
    places[ops[place]] = place;
    if (graph.op(ops[place]).role != OpRole::Update)
      last = ops[place];
  }
  places[end] = end;
}

OpId OperatorOrder::firstReader(const Value &value) const {
  return std::min_element(value.uses.begin(), value.uses.end(),
                          [&](Use a, Use b) { return isBefore(a.op, b.op); })
      ->op;
}
