//===- Space.cpp - what a search may choose -------------------------------===//

#include "ffc/Search/Space.h"

#include "ffc/Plan/StepMemory.h"

#include <algorithm>
#include <map>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Does the operator have parameters along a dimension, or sum over one, so
/// that its configuration is worth a choice?
static bool isHeavy(const Op &op) {
  for (int d = 0; d < static_cast<int>(op.rules.dims.size()); ++d) {
    if (op.rules.dims[d].extent == 1)
      continue;
    if (op.rules.dims[d].kind == DimKind::Parameter)
      return true;
    for (const Phase &phase : op.rules.schedules.front().phases)
      for (const SlotWrite &write : phase.writes)
        if (std::none_of(write.access.dims.begin(), write.access.dims.end(),
                         [&](const DimMap &map) { return map.involves(d); }))
          return true;
  }
  return false;
}

static int slotOf(const std::vector<ValueId> &values, ValueId value) {
  auto it = std::find(values.begin(), values.end(), value);
  return it == values.end() ? -1 : static_cast<int>(it - values.begin());
}

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

/// The first reader of what `op` makes; -1: none.
static Space::Leader firstReader(const Graph &graph, const Op &op) {
  Space::Leader leader;
  for (size_t r = 0; r < op.results.size(); ++r)
    if (op.results[r] >= 0)
      for (Use use : graph.value(op.results[r]).uses)
        if (leader.op < 0 || use.op < leader.op)
          leader = {use.op, use.operand,
                    static_cast<int>(op.operands.size() + r)};
  return leader;
}

Space::Space(const Graph &graph, int numDevices)
    : graph_(&graph), numDevices_(numDevices), leaders_(graph.ops.size()),
      followers_(graph.ops.size()) {
  for (int64_t d = 1; d <= numDevices; ++d)
    if (numDevices % d == 0)
      divisors_.push_back(d);
  const auto end = static_cast<OpId>(graph.ops.size());
  std::vector<bool> data = needsData(graph);
  std::vector<OpId> root(graph.ops.size());
  auto follow = [&](OpId id) {
    OpId leader = leaders_[id].op;
    root[id] = leader < 0 ? id : root[leader];
    if (leader >= 0)
      followers_[root[id]].push_back(id);
  };
  for (OpId id = 0; id < end; ++id) {
    const Op &op = graph.op(id);
    Leader &leader = leaders_[id];
    if (op.owner >= 0) {
      leader = {op.owner, op.ownerSlot, op.ownSlot};
    } else if (!data[id]) {
      continue;
    } else if (!isHeavy(op)) {
      for (size_t i = 0; i < op.operands.size() && leader.op < 0; ++i) {
        ValueId operand = op.operands[i];
        OpId producer = operand < 0 ? -1 : graph.value(operand).producer;
        if (producer >= 0 && data[producer])
          leader = {producer,
                    static_cast<int>(graph.op(producer).operands.size()) +
                        slotOf(graph.op(producer).results, operand),
                    static_cast<int>(i)};
      }
    }
    follow(id);
  }
  // Readers come after what they read.
  for (OpId id = end; id-- > 0;)
    if (!data[id] && graph.op(id).owner < 0) {
      leaders_[id] = firstReader(graph, graph.op(id));
      follow(id);
    }
  std::map<std::string, int> classNumbers;
  for (OpId id = 0; id < end; ++id) {
    if (leaders_[id].op >= 0)
      continue;
    const Op &op = graph.op(id);
    anchors_.push_back(id);
    std::string key = op.type;
    for (const IterDim &dim : op.rules.dims)
      key += " " + dim.name + "=" + std::to_string(dim.extent) + "/" +
             std::to_string(dim.granularity);
    for (const Phase &phase : op.rules.schedules.front().phases)
      key += " " + phase.kernel;
    auto [it, added] =
        classNumbers.emplace(key, static_cast<int>(classes_.size()));
    if (added)
      classes_.emplace_back();
    classOf_.push_back(it->second);
    classes_[it->second].push_back(id);
  }
}

//===----------------------------------------------------------------------===//
// Walker
//===----------------------------------------------------------------------===//

Walker::Walker(const Space &space, const CostModel &cost)
    : space(space), table(space.graph(), space.numDevices(), cost),
      timer(table,
            std::vector<ConfigId>(space.graph().ops.size(),
                                  table.intern(Configuration::onDevice(0)))) {}

Strategy Walker::strategy() const {
  Strategy result;
  for (ConfigId id : timer.configs())
    result.push_back(table.config(id));
  return result;
}

ConfigId Walker::follow(OpId op, ConfigId leader) {
  uint64_t key =
      static_cast<uint64_t>(op) << 32 | static_cast<uint32_t>(leader);
  auto [it, added] = followed.emplace(key, -1);
  if (added) {
    const Space::Leader &l = space.leader(op);
    const Configuration &config = table.config(leader);
    it->second = table.intern(
        l.slot < 0
            ? carryOverByName(space.graph(), l.op, config, op)
            : carryOver(space.graph(), l.op, config, l.slot, op, l.ownSlot));
  }
  return it->second;
}

void Walker::expand(const std::vector<Choice> &choices) {
  changes.clear();
  // New configurations of the followers of one anchor at a time, by operator.
  thread_local std::unordered_map<OpId, ConfigId> fresh;
  for (const auto &[anchor, config] : choices) {
    fresh.clear();
    ConfigId id = table.intern(config);
    fresh[anchor] = id;
    changes.push_back({anchor, id});
    for (OpId op : space.followers(anchor)) {
      ConfigId own = follow(op, fresh[space.leader(op).op]);
      fresh[op] = own;
      changes.push_back({op, own});
    }
  }
}

Picoseconds Walker::propose(const std::vector<Choice> &choices,
                            Picoseconds limit) {
  expand(choices);
  return timer.propose(changes, limit);
}

Picoseconds Walker::proposeFull(const std::vector<Choice> &choices) {
  expand(choices);
  return timer.proposeFull(changes);
}

void Walker::assign(const Strategy &other) {
  changes.clear();
  for (OpId op = 0; op < static_cast<OpId>(other.size()); ++op)
    changes.push_back({op, table.intern(other[op])});
  timer.propose(changes);
  timer.accept();
}

std::vector<int64_t> Walker::memory() {
  return stepMemory(table, timer.configs());
}
