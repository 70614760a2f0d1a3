//===- WrittenInPlace.cpp - results that are written where they stay ------===//

#include "WrittenInPlace.h"

#include <algorithm>

using namespace ffc::plan;

/// True if `op` writes the result over an operand.
static bool overwritesOperand(const Op &op, int result) {
  return std::any_of(op.rules.inPlace.begin(), op.rules.inPlace.end(),
                     [=](auto pair) { return pair.first == result; });
}

/// True if whatever tile writes the result writes all there is to know of it.
static bool isWrittenAtOnce(const Op &op, int result) {
  const int slot = static_cast<int>(op.operands.size()) + result;
  for (const Schedule &schedule : op.rules.schedules)
    for (const Phase &phase : schedule.phases)
      for (const SlotWrite &write : phase.writes)
        if (write.slot == slot && write.reduction != Reduction::None)
          return false;
  return true;
}

/// Does nobody need what was in the state any more when `written` is computed,
/// but perhaps its operator, element by element?
static bool isLastNeeded(const Graph &graph, const OperatorOrder &operators,
                         const Value &old, const Value &written) {
  const auto &allowed = graph.op(written.producer).rules.mayOverwrite;
  return std::all_of(old.uses.begin(), old.uses.end(), [&](Use use) {
    return operators.isBefore(use.op, written.producer) ||
           (use.op == written.producer &&
            std::count(allowed.begin(), allowed.end(),
                       std::make_pair(written.result, use.operand)));
  });
}

WrittenInPlace::WrittenInPlace(const Graph &graph, const MemoryOrders &orders,
                               const OperatorOrder &operators)
    : inPlace(graph.values.size()), states(graph.values.size(), -1) {
  std::vector<int> stores(graph.values.size());
  for (const State &state : graph.states)
    if (state.written >= 0)
      ++stores[state.written];
  std::vector<bool> leaves(graph.values.size());
  for (const Output &output : graph.outputs)
    leaves[output.value] = true;
  for (StateId s = 0; s < static_cast<StateId>(graph.states.size()); ++s) {
    const State &state = graph.states[s];
    const ValueId id = state.written;
    if (id < 0 || graph.value(id).producer < 0 || stores[id] > 1 ||
        leaves[state.read])
      continue;
    const Value &written = graph.value(id);
    const Op &op = graph.op(written.producer);
    // A micro-batch leaves states as they are for the next one.
    if (!overwritesOperand(op, written.result) &&
        !graph.isRepeated(written.producer) &&
        orders.of(id) == MemoryOrder::RowMajor &&
        isWrittenAtOnce(op, written.result) &&
        isLastNeeded(graph, operators, graph.value(state.read), written))
      states[id] = s;
  }
  for (size_t v = 0; v < graph.values.size(); ++v)
    inPlace[v] =
        states[v] >= 0 || (graph.values[v].producer >= 0 &&
                           overwritesOperand(graph.op(graph.values[v].producer),
                                             graph.values[v].result));
}
