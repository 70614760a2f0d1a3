//===- Following.cpp - what takes its configuration from what -------------===//

#include "ffc/Plan/Following.h"

#include <algorithm>
#include <numeric>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Who follows whom
//===----------------------------------------------------------------------===//

/// For every operator, does it need more than state?
static std::vector<bool> needsData(const Graph &graph) {
  std::vector<bool> result;
  for (const Op &op : graph.ops)
    result.push_back(std::any_of(
        op.operands.begin(), op.operands.end(), [&](ValueId operand) {
          if (operand < 0)
            return false;
          const Value &value = graph.value(operand);
          return value.producer >= 0 ? bool(result[value.producer])
                                     : value.kind == ValueKind::Input;
        }));
  return result;
}

static Leader producerOf(const Graph &graph, OpId id, size_t operand) {
  const Value &value = graph.value(graph.op(id).operands[operand]);
  const Op &producer = graph.op(value.producer);
  return {value.producer,
          static_cast<int>(producer.operands.size()) + value.result,
          static_cast<int>(operand)};
}

/// The first operator for which `accepts` that reads a result of `id`.
template <class Accepts>
static Leader firstReader(const Graph &graph, OpId id, Accepts accepts) {
  const Op &op = graph.op(id);
  Leader leader;
  for (size_t r = 0; r < op.results.size(); ++r)
    if (op.results[r] >= 0)
      for (Use use : graph.value(op.results[r]).uses)
        if ((leader.op < 0 || use.op < leader.op) && accepts(use.op))
          leader = {use.op, use.operand,
                    static_cast<int>(op.operands.size() + r)};
  return leader;
}

Following ffc::plan::followingOf(const Graph &graph) {
  const auto end = static_cast<OpId>(graph.ops.size());
  const std::vector<bool> data = needsData(graph);
  Following result;
  std::vector<Leader> &leaders = result.leaders;
  leaders.resize(graph.ops.size());
  for (OpId id = 0; id < end; ++id) {
    const Op &op = graph.op(id);
    if (op.owner >= 0)
      leaders[id] = {op.owner, op.ownerSlot, op.ownSlot};
    else if (data[id])
      for (size_t i = 0; i < op.operands.size() && leaders[id].op < 0; ++i)
        if (ValueId operand = op.operands[i];
            operand >= 0 && graph.value(operand).producer >= 0 &&
            data[graph.value(operand).producer])
          leaders[id] = producerOf(graph, id, i);
  }
  // Readers come after what they read. The gradient of a transformed weight
  // may be the only one, and follows the transformation.
  for (OpId id = end; id-- > 0;)
    if (!data[id] && graph.op(id).owner < 0)
      leaders[id] = firstReader(graph, id, [&](OpId reader) {
        while (reader >= 0 && reader != id)
          reader = leaders[reader].op;
        return reader < 0;
      });

  std::vector<bool> placed(graph.ops.size());
  std::vector<OpId> chain;
  for (OpId id = 0; id < end; ++id) {
    for (OpId next = id; next >= 0 && !placed[next]; next = leaders[next].op) {
      chain.push_back(next);
      placed[next] = true;
    }
    result.order.insert(result.order.end(), chain.rbegin(), chain.rend());
    chain.clear();
  }
  return result;
}

Configuration ffc::plan::follow(const Graph &graph, const Leader &leader,
                                const Configuration &config, OpId op) {
  return leader.slot < 0 ? carryOverByName(graph, leader.op, config, op)
                         : carryOver(graph, leader.op, config, leader.slot, op,
                                     leader.ownSlot);
}

Configuration ffc::plan::shareCopies(const Graph &graph, OpId op,
                                     const Configuration &config) {
  const OpRules &rules = graph.op(op).rules;
  Configuration result;
  result.devices = config.devices;
  std::vector<bool> split(rules.dims.size());
  for (const GridAxis &axis : config.axes)
    if (axis.dim != kReplica)
      split[axis.dim] = true;
  for (const GridAxis &axis : config.axes) {
    auto first = std::find(split.begin(), split.end(), false);
    const int d = static_cast<int>(first - split.begin());
    int64_t shares = 1;
    if (axis.dim == kReplica && first != split.end() && rules.splittable(d))
      shares = std::gcd(axis.degree, maxDegree(rules.dims[d]));
    if (shares == 1) {
      result.axes.push_back(axis);
      continue;
    }
    *first = true;
    if (shares < axis.degree)
      result.axes.push_back({kReplica, axis.degree / shares});
    result.axes.push_back({d, shares});
  }
  return carryOverByName(graph, op, result, op);
}

//===----------------------------------------------------------------------===//
// Whole strategies
//===----------------------------------------------------------------------===//

Strategy ffc::plan::completeStrategy(
    const Graph &graph, const std::vector<std::optional<Configuration>> &given,
    std::vector<OpId> *followed) {
  const auto end = static_cast<OpId>(graph.ops.size());
  if (followed)
    for (OpId op = 0; op < end; ++op)
      if (!given[op] && graph.op(op).role == OpRole::Forward)
        followed->push_back(op);

  const Following following = followingOf(graph);
  std::vector<std::optional<Configuration>> configs = given;
  auto takeFrom = [&](const Leader &leader, OpId op) {
    if (!configs[op] && leader.op >= 0 && configs[leader.op])
      configs[op] = follow(graph, leader, *configs[leader.op], op);
  };
  auto followLeaders = [&] {
    for (OpId op : following.order)
      takeFrom(following.leaders[op], op);
  };
  followLeaders();
  // What leads, and what follows it up to one that is given, does as its
  // readers.
  for (OpId op = end; op-- > 0;)
    if (!configs[op])
      takeFrom(firstReader(graph, op,
                           [&](OpId reader) {
                             return configs[reader].has_value() &&
                                    graph.op(reader).role == OpRole::Forward;
                           }),
               op);
  for (OpId op : following.order)
    if (!configs[op] && following.leaders[op].op < 0)
      configs[op] = Configuration::onDevice(0);
  followLeaders();

  Strategy strategy;
  for (auto &config : configs)
    strategy.push_back(std::move(*config));
  return strategy;
}
