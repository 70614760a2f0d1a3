//===- Space.cpp - what a search may choose -------------------------------===//

#include "ffc/Search/Space.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/SampleDims.h"
#include "ffc/Plan/StepMemory.h"
#include "ffc/Plan/StrategyFile.h"

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

/// Can `op` be split by samples, but not by following a leader that is?
static bool regainsSamples(const Graph &graph, const std::vector<int> &samples,
                           const plan::Leader &leader, OpId op) {
  auto canSplit = [&](OpId id) {
    const OpRules &rules = graph.op(id).rules;
    return samples[id] >= 0 && rules.splittable(samples[id]) &&
           maxDegree(rules.dims[samples[id]]) > 1;
  };
  if (!canSplit(op))
    return false;
  if (!canSplit(leader.op))
    return true;
  const Configuration split{{{samples[leader.op], 2}}, {0, 1}};
  return follow(graph, leader, split, op).axes[0].dim != samples[op];
}

/// The dimensions along which an operator can be split at all.
static std::vector<int> splittableDims(const OpRules &rules) {
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(rules.dims.size()); ++d)
    if (rules.splittable(d) && maxDegree(rules.dims[d]) > 1)
      dims.push_back(d);
  return dims;
}

/// Does `op` write at least twice what it reads, along a dimension that its
/// leader has no split of, as one-hot rows and outer products do?
static bool opensDimension(const Graph &graph, const plan::Leader &leader,
                           OpId id) {
  auto elementsOf = [&](const std::vector<ValueId> &values) {
    int64_t sum = 0;
    for (ValueId value : values)
      sum += value < 0 ? 0 : numElements(graph.value(value).type.shape);
    return sum;
  };
  const Op &op = graph.op(id);
  if (elementsOf(op.results) < 2 * elementsOf(op.operands))
    return false;
  std::vector<int> opened = splittableDims(op.rules);
  for (int dim : splittableDims(graph.op(leader.op).rules)) {
    const Configuration split{{{dim, 2}}, {0, 1}};
    const int reached = follow(graph, leader, split, id).axes[0].dim;
    opened.erase(std::remove(opened.begin(), opened.end(), reached),
                 opened.end());
  }
  return !opened.empty();
}

/// See Space::evenSplits().
static std::vector<GridAxis> evenSplitsOf(const OpRules &rules,
                                          const std::vector<int> &dims,
                                          int64_t numDevices) {
  std::vector<GridAxis> result;
  for (int dim : dims) {
    const int64_t units = maxDegree(rules.dims[dim]);
    for (int64_t degree = 2;
         units < 2 * numDevices && degree <= std::min(units, numDevices);
         ++degree)
      if (units % degree == 0 && numDevices % degree != 0)
        result.push_back({dim, degree});
  }
  return result;
}

static void addTo(std::string &key, const Access &access, bool onlyDigits) {
  for (const DimMap &map : access.dims) {
    if (onlyDigits && map.kind != DimMap::Kind::Digits)
      continue;
    key += "/" + std::to_string(static_cast<int>(map.kind));
    for (int64_t number : {map.stride, map.reach, map.pad})
      key += "," + std::to_string(number);
    for (int dim : map.dims)
      key += "," + std::to_string(dim);
  }
  for (int dim : access.onlyAtStart)
    key += "!" + std::to_string(dim);
}

/// Of operators for which it is equal the same configurations are legal
/// (checkConfiguration), and are probably as good.
static std::string keyOf(const Graph &graph, OpId id) {
  const Op &op = graph.op(id);
  std::string key = op.type;
  for (const IterDim &dim : op.rules.dims)
    key += " " + dim.name + "=" + std::to_string(dim.extent) + "/" +
           std::to_string(dim.granularity);
  for (const Schedule &schedule : op.rules.schedules) {
    key += " unsplit";
    for (int dim : schedule.unsplit)
      key += "," + std::to_string(dim);
    for (const Phase &phase : schedule.phases) {
      key += " " + phase.kernel;
      for (const SlotWrite &write : phase.writes)
        addTo(key += " writes", write.access, /*onlyDigits=*/false);
      for (const SlotRead &read : phase.reads)
        if (ValueId value = graph.slotValue(id, read.slot);
            value >= 0 && graph.isLoaded(value))
          addTo(key, read.access, /*onlyDigits=*/true);
    }
  }
  for (ValueId value : op.results)
    key += value < 0 ? " unused" : " used";
  return key;
}

std::vector<int64_t> search::divisorsOf(int64_t number) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= number; ++d)
    if (number % d == 0)
      divisors.push_back(d);
  return divisors;
}

Space::Space(const Graph &graph, int numDevices, bool forFlexFlow,
             std::vector<double> speeds)
    : graph_(&graph), numDevices_(numDevices), forFlexFlow_(forFlexFlow),
      speeds_(std::move(speeds)),
      memoryCeiling_(plan::memoryCeiling(graph, numDevices)),
      leaders_(graph.ops.size()), followers_(graph.ops.size()) {
  divisors_ = divisorsOf(numDevices);
  for (const Op &op : graph.ops) {
    splittable_.push_back(splittableDims(op.rules));
    evenSplits_.push_back(
        evenSplitsOf(op.rules, splittable_.back(), numDevices));
  }
  plan::Following following = followingOf(graph);
  const std::vector<int> samples = sampleDims(graph);
  std::vector<OpId> root(graph.ops.size());
  for (OpId id : following.order) {
    // Leaders that come later are readers.
    plan::Leader leader = following.leaders[id];
    const Op &op = graph.op(id);
    if (leader.op >= 0 && leader.op < id && op.owner < 0 &&
        (isHeavy(op) || regainsSamples(graph, samples, leader, id) ||
         opensDimension(graph, leader, id)) &&
        (!forFlexFlow || op.role == OpRole::Forward))
      leader = {};
    leaders_[id] = leader;
    root[id] = leader.op < 0 ? id : root[leader.op];
    if (leader.op >= 0)
      followers_[root[id]].push_back(id);
  }
  const auto end = static_cast<OpId>(graph.ops.size());
  std::map<std::string, int> classNumbers;
  for (OpId id = 0; id < end; ++id) {
    if (leaders_[id].op >= 0)
      continue;
    anchors_.push_back(id);
    auto [it, added] = classNumbers.emplace(keyOf(graph, id),
                                            static_cast<int>(classes_.size()));
    if (added)
      classes_.emplace_back();
    classOf_.push_back(it->second);
    classes_[it->second].push_back(id);
  }
}

std::vector<ChoiceOption> ChoiceOptions::list() const {
  std::vector<ChoiceOption> all;
  for (ChoiceOption option : {ChoiceOption::ShardUpdates})
    if (has(option))
      all.push_back(option);
  return all;
}

ChoiceOptions Space::options(OpId anchor) const {
  ChoiceOptions result;
  const std::vector<OpId> &all = followers(anchor);
  result.set(ChoiceOption::ShardUpdates,
             !forFlexFlow_ && std::any_of(all.begin(), all.end(), [&](OpId op) {
               return graph_->op(op).role == OpRole::Update;
             }));
  return result;
}

bool Space::allows(OpId anchor, const Configuration &config) const {
  return !forFlexFlow_ || isSaidInFlexFlow(graph_->op(anchor), config);
}

//===----------------------------------------------------------------------===//
// Walker
//===----------------------------------------------------------------------===//

Walker::Walker(const Space &space, const CostModel &cost)
    : Walker(space, std::make_unique<SegmentTable>(space.graph(),
                                                   space.numDevices(), cost)) {}

Walker::Walker(const Space &space, std::unique_ptr<SegmentTable> own)
    : Walker(space, *own) {
  owned = std::move(own);
}

Walker::Walker(const Space &space, SegmentTable &table)
    : space(space), table(table),
      timer(table,
            std::vector<ConfigId>(space.graph().ops.size(),
                                  table.intern(Configuration::onDevice(0)))),
      fresh(space.graph().ops.size()), taken(space.graph().ops.size()) {}

Strategy Walker::strategy() const {
  Strategy result;
  for (ConfigId id : timer.configs())
    result.push_back(table.config(id));
  return result;
}

ConfigId Walker::follow(OpId op, ConfigId leader, ChoiceOptions options) {
  return table.follow(op, leader,
                      options.has(ChoiceOption::ShardUpdates) &&
                          space.graph().op(op).role == OpRole::Update);
}

const std::vector<StepTimer::Change> &
Walker::groupOf(OpId anchor, ConfigId config, ChoiceOptions options) {
  const uint64_t key = pairKey(
      2 * anchor + int{options.has(ChoiceOption::ShardUpdates)}, config);
  if (const auto *known = groups.find(key))
    return *known;
  std::vector<StepTimer::Change> group{{anchor, config}};
  fresh[anchor] = config;
  for (OpId op : space.followers(anchor)) {
    fresh[op] = follow(op, fresh[space.leader(op).op], options);
    group.push_back({op, fresh[op]});
  }
  return groups.insert(key, std::move(group));
}

const std::vector<StepTimer::Change> &
Walker::changesOf(const std::vector<NumberedChoice> &choices) {
  changes.clear();
  proposed.clear();
  for (const auto &[anchor, config, options] : choices) {
    proposed.push_back({anchor, options});
    const auto &group = groupOf(anchor, config, options);
    changes.insert(changes.end(), group.begin(), group.end());
  }
  return changes;
}

std::vector<NumberedChoice>
Walker::numbered(const std::vector<Choice> &choices) const {
  std::vector<NumberedChoice> result;
  for (const auto &[anchor, config, options] : choices)
    result.push_back({anchor, number(config), options});
  return result;
}

Picoseconds Walker::propose(const std::vector<Choice> &choices,
                            Picoseconds limit) {
  return proposeNumbered(numbered(choices), limit);
}

Picoseconds Walker::proposeNumbered(const std::vector<NumberedChoice> &choices,
                                    Picoseconds limit) {
  return timer.propose(changesOf(choices), limit);
}

void Walker::accept() {
  timer.accept();
  for (auto [anchor, options] : proposed)
    taken[anchor] = options;
}

void Walker::assign(const Strategy &other) {
  std::vector<ConfigId> configs;
  for (const Configuration &config : other)
    configs.push_back(table.intern(config));
  timer.restart(configs);
  // Strategies do not say what follows and why.
  ChoiceOptions sharding;
  sharding.set(ChoiceOption::ShardUpdates);
  for (OpId anchor : space.anchors()) {
    bool sharded = false;
    for (OpId op : space.followers(anchor))
      if (space.graph().op(op).role == OpRole::Update) {
        ConfigId leader = timer.configs()[space.leader(op).op];
        ConfigId own = timer.configs()[op];
        sharded |= own != follow(op, leader, {}) &&
                   own == follow(op, leader, sharding);
      }
    taken[anchor].set(ChoiceOption::ShardUpdates, sharded);
  }
}

std::vector<int64_t> Walker::memory() {
  return stepMemory(table, timer.configs());
}

std::vector<int64_t> Walker::plannedMemory() {
  const Program program =
      planProgram(space.graph(), strategy(), space.numDevices(), table.cost());
  std::vector<int64_t> bytes;
  for (const DeviceProgram &device : program.devices)
    bytes.push_back(device.stateBytes + device.arenaBytes);
  return bytes;
}

MemoryParts Walker::largestMemory() {
  return plan::largestMemory(table, timer.configs());
}
