//===- Space.cpp - what a search may choose -------------------------------===//

#include "ffc/Search/Space.h"

#include "ffc/Plan/StepMemory.h"

#include <algorithm>
#include <map>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Does the operator split parameters or contract something, so that its
/// configuration is worth a choice?
static bool isHeavy(const Graph &graph, const Op &op) {
  for (ValueId operand : op.operands)
    if (operand >= 0 && graph.value(operand).kind == ValueKind::State)
      return true;
  for (const IterDim &dim : op.rules.dims)
    if (dim.kind == DimKind::Reduction && dim.extent > 1)
      return true;
  return false;
}

static int slotOf(const std::vector<ValueId> &values, ValueId value) {
  auto it = std::find(values.begin(), values.end(), value);
  return it == values.end() ? -1 : static_cast<int>(it - values.begin());
}

Space::Space(const Graph &graph, int numDevices)
    : graph_(&graph), numDevices_(numDevices), leaders_(graph.ops.size()),
      followers_(graph.ops.size()) {
  for (int64_t d = 1; d <= numDevices; ++d)
    if (numDevices % d == 0)
      divisors_.push_back(d);
  std::vector<OpId> root(graph.ops.size());
  std::map<std::string, int> classNumbers;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const Op &op = graph.op(id);
    Leader &leader = leaders_[id];
    if (op.owner >= 0) {
      leader = {op.owner, op.ownerSlot, op.ownSlot};
    } else if (!isHeavy(graph, op)) {
      // completeStrategy() looks at the first produced operand only.
      for (size_t i = 0; i < op.operands.size() && leader.op < 0; ++i) {
        ValueId operand = op.operands[i];
        OpId producer = operand < 0 ? -1 : graph.value(operand).producer;
        if (producer >= 0)
          leader = {producer,
                    static_cast<int>(graph.op(producer).operands.size()) +
                        slotOf(graph.op(producer).results, operand),
                    static_cast<int>(i)};
      }
    }
    root[id] = leader.op < 0 ? id : root[leader.op];
    if (leader.op >= 0) {
      followers_[root[id]].push_back(id);
      continue;
    }
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
// Candidates
//===----------------------------------------------------------------------===//

Configuration Space::candidate(OpId anchor, Random &random) const {
  const OpRules &rules = graph_->op(anchor).rules;
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(rules.dims.size()); ++d)
    if (rules.splittable(d) && maxDegree(rules.dims[d]) > 1)
      dims.push_back(d);
  while (true) {
    // Half of the candidates use all devices.
    int64_t points =
        random.oneIn(2)
            ? numDevices_
            : divisors_[random.below(static_cast<int64_t>(divisors_.size()))];
    Configuration config;
    auto split = [&](int dim, int64_t factor) {
      for (GridAxis &axis : config.axes)
        if (axis.dim == dim) {
          axis.degree *= factor;
          return;
        }
      config.axes.push_back({dim, factor});
    };
    int64_t rest = points;
    for (int64_t factor = 2; rest > 1; ++factor)
      for (; rest % factor == 0; rest /= factor)
        split(dims.empty() || random.oneIn(12)
                  ? kReplica
                  : dims[random.below(static_cast<int64_t>(dims.size()))],
              factor);
    for (size_t i = config.axes.size(); i > 1; --i)
      std::swap(config.axes[i - 1],
                config.axes[random.below(static_cast<int64_t>(i))]);
    int64_t places = numDevices_ / points;
    int64_t place = random.oneIn(2) ? 0 : random.below(places);
    bool apart = places > 1 && random.oneIn(3);
    for (int64_t p = 0; p < points; ++p)
      config.devices.push_back(static_cast<DeviceId>(
          apart ? p * places + place : place * points + p));
    if (!checkConfiguration(*graph_, anchor, config, numDevices_))
      return config;
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
