//===- Recomputation.cpp - less memory for more work ----------------------===//

#include "ffc/Plan/Recomputation.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ffc::plan;

bool ffc::plan::doesAgain(const Strategy &strategy) {
  return std::any_of(strategy.begin(), strategy.end(),
                     [](const Configuration &config) { return config.again; });
}

bool ffc::plan::isBackward(const Graph &graph, const Turn &turn) {
  return turn.isAgain || graph.op(turn.op).role == OpRole::Gradient;
}

/// The writes that are partial in each of the turns of an operator.
static std::vector<const SlotWrite *>
sumsOf(const Graph &graph, const Turn &turn, const Configuration &config) {
  std::vector<const SlotWrite *> sums;
  if (turn.parts > 1)
    for (const Phase &phase :
         scheduleFor(graph.op(turn.op).rules, config).phases)
      for (const SlotWrite &write : phase.writes)
        if (write.isPartialAlong(turn.dim))
          sums.push_back(&write);
  return sums;
}

namespace {

class Insertion {
public:
  Insertion(const Graph &graph, const Strategy &strategy,
            const std::vector<Turn> &turns)
      : graph(graph), turns(turns), forward(graph.ops.size()) {
    for (const Turn &turn : turns)
      if (graph.op(turn.op).role == OpRole::Forward &&
          strategy[turn.op].again &&
          sumsOf(graph, turn, strategy[turn.op]).empty())
        forward[turn.op].push_back(turn);
    for (const State &state : graph.states)
      if (state.written >= 0)
        overwritten[state.written] = state.read;
  }

  std::vector<Turn> run() {
    for (const Turn &turn : turns) {
      if (graph.op(turn.op).role == OpRole::Gradient)
        addProducers(turn);
      keepFrom(turn);
      result.push_back(turn);
    }
    return std::move(result);
  }

private:
  /// What the turn reads, of which its part is enough if there are parts.
  void addProducers(const Turn &reader) {
    for (ValueId value : graph.op(reader.op).operands)
      if (value >= 0 && graph.value(value).producer >= 0)
        add(graph.value(value).producer, reader);
  }

  void add(OpId op, const Turn &reader) {
    for (const Turn &turn : forward[op])
      if ((turn.parts != reader.parts || turn.part == reader.part) &&
          added.insert({op, turn.part}).second) {
        addProducers(turn);
        result.push_back(turn);
        result.back().isAgain = true;
      }
  }

  /// What reads a state does so before it is written.
  void keepFrom(const Turn &writer) {
    for (ValueId written : graph.op(writer.op).results)
      if (auto it = overwritten.find(written); it != overwritten.end())
        for (const Use &use : graph.value(it->second).uses)
          if (!forward[use.op].empty() && isReadBackward(use.op))
            add(use.op, {use.op, 0, 0});
  }

  bool isReadBackward(OpId op) {
    auto [it, isNew] = readBackward.try_emplace(op, false);
    if (!isNew)
      return it->second;
    bool found = false;
    for (ValueId value : graph.op(op).results)
      if (value >= 0)
        for (const Use &use : graph.value(value).uses)
          found |= graph.op(use.op).role == OpRole::Gradient ||
                   (!forward[use.op].empty() && isReadBackward(use.op));
    return readBackward[op] = found;
  }

  const Graph &graph;
  const std::vector<Turn> &turns;
  std::vector<std::vector<Turn>> forward; ///< by operator that is done again
  std::map<ValueId, ValueId> overwritten; ///< what is stored, and what was read
  std::map<OpId, bool> readBackward;
  std::set<std::pair<OpId, int>> added; ///< operators and parts
  std::vector<Turn> result;
};

} // namespace

std::vector<Turn> ffc::plan::withRecomputation(const Graph &graph,
                                               const Strategy &strategy,
                                               const std::vector<Turn> &turns) {
  return doesAgain(strategy) ? Insertion(graph, strategy, turns).run() : turns;
}

std::vector<OpId> ffc::plan::updatesOfSentAgain(const Graph &graph,
                                                const Strategy &strategy) {
  std::vector<OpId> updates(graph.values.size(), -1);
  for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op)
    if (graph.op(op).role == OpRole::Update && strategy[op].again)
      for (ValueId value : graph.op(op).operands)
        if (value >= 0 && updates[value] < 0)
          updates[value] = op;
  return updates;
}

void ffc::plan::noteOwnSums(const Graph &graph, const Strategy &strategy,
                            std::vector<Turn> &turns) {
  const std::vector<OpId> updates = updatesOfSentAgain(graph, strategy);
  for (Turn &turn : turns) {
    const Op &op = graph.op(turn.op);
    if (op.role != OpRole::Gradient)
      continue;
    for (const SlotWrite *write : sumsOf(graph, turn, strategy[turn.op])) {
      const size_t result =
          static_cast<size_t>(write->slot) - op.operands.size();
      const ValueId value = graph.slotValue(turn.op, write->slot);
      if (value >= 0 && updates[value] >= 0 && result < Turn::kMostOwnSums &&
          write->reduction == Reduction::Sum)
        turn.ownSums |= uint32_t(1) << result;
    }
  }
}

std::vector<bool> ffc::plan::statesSentAgain(const Graph &graph,
                                             const Strategy &strategy) {
  std::vector<bool> result(graph.values.size());
  for (const State &state : graph.states)
    if (state.written >= 0)
      if (const OpId update = graph.value(state.written).producer;
          graph.op(update).role == OpRole::Update && strategy[update].again)
        result[state.read] = true;
  return result;
}
