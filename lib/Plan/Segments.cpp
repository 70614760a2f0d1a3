//===- Segments.cpp - what a plan is made of, kept and timed --------------===//

#include "ffc/Plan/Segments.h"

#include "OpPlanner.h"
#include "SegmentKeys.h"

#include <algorithm>
#include <unordered_map>

using namespace ffc::plan;

namespace {

/// Buffers do not matter to it: they are those of one plan.
struct LayoutOf {
  TensorType type;
  Placement placement;
};

/// All that decides the tasks of an operator besides its configuration, so that
/// equal layers share their segments. `orders` are those of the values.
Key classKey(const Graph &graph, OpId id,
             const std::vector<MemoryOrder> &orders) {
  const Op &op = graph.op(id);
  Key key;
  key.add(static_cast<int64_t>(op.rules.dims.size()));
  for (const IterDim &dim : op.rules.dims)
    key.add(dim.extent).add(dim.granularity);
  for (const Schedule &schedule : op.rules.schedules) {
    key.addAll(schedule.unsplit);
    key.add(static_cast<int64_t>(schedule.phases.size()));
    for (const Phase &phase : schedule.phases) {
      key.add(phase.kernel).add(phase.flopsPerPoint);
      key.add(static_cast<int64_t>(phase.reads.size()));
      for (const SlotRead &read : phase.reads)
        key.add(int64_t(read.slot)).add(read.access);
      key.add(static_cast<int64_t>(phase.writes.size()));
      for (const SlotWrite &write : phase.writes)
        key.add(int64_t(write.slot))
            .add(write.access)
            .add(int64_t(write.reduction));
    }
  }
  for (const TensorType &type : op.rules.internals)
    key.add(type);
  for (auto [result, operand] : op.rules.inPlace)
    key.add(int64_t(result)).add(int64_t(operand));
  for (const auto *values : {&op.operands, &op.results})
    for (ValueId value : *values) {
      key.add(int64_t(value >= 0));
      if (value >= 0)
        key.add(graph.value(value).type).add(int64_t(orders[value]));
    }
  return key;
}

} // namespace

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

struct SegmentTable::Tables {
  Tables(const Graph &graph, int numDevices, const CostModel &cost)
      : graph(graph), numDevices(numDevices), cost(cost),
        strategy(graph.ops.size()), orders(graph.values.size()) {
    // Memory orders do not depend on the strategy. A class needs those of its
    // operands, and its plan on one device tells those of its results.
    Configuration whole = Configuration::onDevice(0);
    for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op) {
      makeOp(op, whole);
      Key key = classKey(graph, op, orders);
      classes.push_back(classIds.intern(key, op));
    }
  }

  OpSegment makeOp(OpId id, const Configuration &config);
  LayoutId internLayout(const TensorType &type, const Placement &placement);
  NeedId internNeeds(const std::vector<Need> &needs);
  /// Buffers for everything in `placement`, which has none.
  void addBuffers(ProgramBuilder &build, const TensorType &type,
                  Placement &placement) const;
  TimedTasks timed(const ProgramBuilder &build) const {
    TimedTasks tasks(graph, strategy, build.program, cost);
    tasks.compact();
    return tasks;
  }

  const Graph &graph;
  int numDevices;
  const CostModel &cost;
  Strategy strategy; ///< the configuration of the operator being made
  std::vector<MemoryOrder> orders; ///< of values
  Interner<OpId> classIds;
  std::vector<int32_t> classes; ///< of operators
  Interner<Configuration> configs;
  Interner<LayoutOf> layouts;
  Interner<std::vector<Need>> needs;
  PairMap<OpSegment> ops;
  PairMap<ReshardSegment> reshards, stores;
  PairMap<LayoutId> homes;
  std::unordered_map<LayoutId, NeedId> losses, outputs;
  std::unordered_map<LayoutId, DeviceBytes> layoutBytes;
  /// By need and bytes of an element.
  PairMap<DeviceBytes> needBytes;
};

LayoutId SegmentTable::Tables::internLayout(const TensorType &type,
                                            const Placement &placement) {
  Key key;
  key.add(type).add(int64_t(placement.order));
  for (const Holding &holding : placement.holdings)
    key.add(int64_t(holding.device))
        .add(int64_t(holding.order))
        .add(holding.region);
  for (const PartialGroup &group : placement.groups) {
    key.add(int64_t(-1)).add(int64_t(group.order));
    key.add(int64_t(group.reduction)).add(group.box);
    for (const PartialGroup::Member &member : group.members)
      key.add(int64_t(member.device));
  }
  return layouts.intern(key, {type, placement});
}

NeedId SegmentTable::Tables::internNeeds(const std::vector<Need> &wanted) {
  std::vector<Need> distinct;
  Key key;
  for (const Need &need : wanted)
    if (std::find(distinct.begin(), distinct.end(), need) == distinct.end()) {
      distinct.push_back(need);
      key.add(int64_t(need.device)).add(int64_t(need.order)).add(need.region);
    }
  return needs.intern(key, distinct);
}

void SegmentTable::Tables::addBuffers(ProgramBuilder &build,
                                      const TensorType &type,
                                      Placement &placement) const {
  for (Holding &holding : placement.holdings)
    holding.buffer =
        build.addBuffer(holding.device, -1, "", type, holding.region,
                        holding.order, Section::Arena);
  for (PartialGroup &group : placement.groups)
    for (PartialGroup::Member &member : group.members)
      member.buffer =
          build.addBuffer(member.device, -1, "", type, Region(group.box),
                          group.order, Section::Arena);
}

OpSegment SegmentTable::Tables::makeOp(OpId id, const Configuration &config) {
  OpSegment segment;
  ProgramBuilder build(numDevices);
  std::map<ValueId, Placement> placements;
  strategy[id] = config;
  auto flush = [&] {
    if (build.program.order.empty())
      return;
    OpSegment::Step step;
    step.tasks = timed(build);
    segment.steps.push_back(std::move(step));
    build.program.order.clear();
  };
  auto placementOf = [&](ValueId value) -> Placement & {
    auto [it, added] = placements.emplace(value, Placement());
    if (added)
      it->second.order = orders[value];
    return it->second;
  };
  auto provide = [&](Placement &where, const OperandRead &read) {
    if (graph.slotValue(read.op, read.slot) < 0)
      return reshardTo(build, cost, where, -1, read.type, "", read.needed,
                       read.task);
    bool missing = false;
    for (const Need &need : read.needed) {
      if (where.find(need) >= 0)
        continue;
      missing = true;
      where.holdings.push_back(
          {need.device, need.region, need.order,
           build.addBuffer(need.device, -1, "", read.type, need.region,
                           need.order, Section::Arena)});
    }
    if (!missing)
      return;
    flush();
    OpSegment::Step step;
    step.slot = read.slot;
    step.need = internNeeds(read.needed);
    segment.steps.push_back(std::move(step));
  };
  OpPlanner(graph, build, placementOf, provide).plan(id, config);
  flush();
  for (ValueId result : graph.op(id).results) {
    segment.results.push_back(-1);
    if (result < 0)
      continue;
    const Placement &placement = placementOf(result);
    orders[result] = placement.order;
    segment.results.back() = internLayout(graph.value(result).type, placement);
  }
  return segment;
}

SegmentTable::SegmentTable(const Graph &graph, int numDevices,
                           const CostModel &cost)
    : tables(std::make_unique<Tables>(graph, numDevices, cost)) {}
SegmentTable::~SegmentTable() = default;

const Graph &SegmentTable::graph() const { return tables->graph; }
int SegmentTable::numDevices() const { return tables->numDevices; }

ConfigId SegmentTable::intern(const Configuration &config) {
  Key key;
  key.add(static_cast<int64_t>(config.axes.size()));
  for (const GridAxis &axis : config.axes)
    key.add(int64_t(axis.dim)).add(axis.degree);
  key.addAll(config.devices);
  return tables->configs.intern(key, config);
}

const Configuration &SegmentTable::config(ConfigId id) const {
  return tables->configs[id];
}

const OpSegment &SegmentTable::op(OpId op, ConfigId config) {
  uint64_t key = pairKey(tables->classes[op], config);
  if (const OpSegment *known = tables->ops.find(key))
    return *known;
  return tables->ops.insert(key, tables->makeOp(op, tables->configs[config]));
}

const ReshardSegment &SegmentTable::reshard(LayoutId layout, NeedId need) {
  uint64_t key = pairKey(layout, need);
  if (const ReshardSegment *known = tables->reshards.find(key))
    return *known;
  LayoutOf from = tables->layouts[layout];
  ProgramBuilder build(tables->numDevices);
  tables->addBuffers(build, from.type, from.placement);
  reshardTo(build, tables->cost, from.placement, -1, from.type, "",
            tables->needs[need], {});
  ReshardSegment segment;
  segment.tasks = tables->timed(build);
  segment.after = tables->internLayout(from.type, from.placement);
  return tables->reshards.insert(key, std::move(segment));
}

LayoutId SegmentTable::home(StateId state, ConfigId update) {
  uint64_t key = pairKey(state, update);
  if (const LayoutId *known = tables->homes.find(key))
    return *known;
  Placement placement;
  for (const Need &need : homeOf(tables->graph, state, tables->configs[update]))
    placement.holdings.push_back({need.device, need.region, need.order, -1});
  const Value &read = tables->graph.value(tables->graph.states[state].read);
  return tables->homes.insert(key, tables->internLayout(read.type, placement));
}

NeedId SegmentTable::lossNeed(LayoutId loss) {
  auto [it, added] = tables->losses.emplace(loss, -1);
  if (added) {
    const LayoutOf &layout = tables->layouts[loss];
    it->second = tables->internNeeds(lossNeeds(layout.placement, layout.type));
  }
  return it->second;
}

NeedId SegmentTable::outputNeed(LayoutId output) {
  auto [it, added] = tables->outputs.emplace(output, -1);
  if (added) {
    const LayoutOf &layout = tables->layouts[output];
    if (!layout.placement.isComplete(layout.type.shape))
      it->second = tables->internNeeds(outputNeeds(layout.placement));
  }
  return it->second;
}

const ReshardSegment &SegmentTable::store(LayoutId written, LayoutId home) {
  uint64_t key = pairKey(written, home);
  if (const ReshardSegment *known = tables->stores.find(key))
    return *known;
  LayoutOf from = tables->layouts[written];
  ProgramBuilder build(tables->numDevices);
  tables->addBuffers(build, from.type, from.placement);
  std::vector<Need> targets;
  for (const Holding &part : tables->layouts[home].placement.holdings)
    targets.push_back({part.device, part.region, part.order});
  reshardTo(build, tables->cost, from.placement, -1, from.type, "", targets,
            {});
  ReshardSegment segment;
  segment.after = tables->internLayout(from.type, from.placement);
  for (const Need &target : targets) {
    BufferId state =
        build.addBuffer(target.device, -1, "", from.type, target.region,
                        target.order, Section::State);
    build.addCopy(target.device, state, from.placement.find(target),
                  Reduction::None, {}, "");
  }
  segment.tasks = tables->timed(build);
  return tables->stores.insert(key, std::move(segment));
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static void addBytes(SegmentTable::DeviceBytes &bytes, DeviceId device,
                     int64_t count) {
  for (auto &[known, sum] : bytes)
    if (known == device) {
      sum += count;
      return;
    }
  bytes.push_back({device, count});
}

const SegmentTable::DeviceBytes &SegmentTable::layoutBytes(LayoutId id) {
  auto [it, added] = tables->layoutBytes.emplace(id, DeviceBytes());
  if (added) {
    const LayoutOf &layout = tables->layouts[id];
    int64_t size = byteSize(layout.type.type);
    for (const Holding &part : layout.placement.holdings)
      addBytes(it->second, part.device, part.region.volume() * size);
    for (const PartialGroup &group : layout.placement.groups)
      for (const PartialGroup::Member &member : group.members)
        addBytes(it->second, member.device, group.box.volume() * size);
  }
  return it->second;
}

const SegmentTable::DeviceBytes &
SegmentTable::needBytes(NeedId need, const TensorType &type) {
  int64_t size = byteSize(type.type);
  uint64_t key = pairKey(need, static_cast<int32_t>(size));
  if (const DeviceBytes *known = tables->needBytes.find(key))
    return *known;
  DeviceBytes bytes;
  for (const Need &part : tables->needs[need])
    addBytes(bytes, part.device, part.region.volume() * size);
  return tables->needBytes.insert(key, std::move(bytes));
}
