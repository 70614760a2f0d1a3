//===- OpPlanner.cpp - the tasks of one operator --------------------------===//

#include "OpPlanner.h"

#include <algorithm>
#include <set>

using namespace ffc::plan;

BufferId Placement::find(const Need &target) const {
  for (const Holding &holding : holdings)
    if (holding.device == target.device && holding.region == target.region &&
        holding.order == target.order)
      return holding.buffer;
  return -1;
}

bool Placement::isComplete(const Shape &shape) const {
  std::vector<Box> rest = {Box::whole(shape)};
  for (const Holding &holding : holdings) {
    if (!holding.region.isBox())
      continue;
    std::vector<Box> next;
    for (const Box &part : rest)
      for (const Box &outside : subtract(part, holding.region.box()))
        next.push_back(outside);
    rest = std::move(next);
  }
  return rest.empty() && !holdings.empty();
}

std::vector<int64_t> ffc::plan::distinctPoints(const Op &op,
                                               const Configuration &config) {
  std::set<std::pair<DeviceId, Tile>> seen;
  std::vector<int64_t> points;
  for (int64_t p = 0, e = config.numPoints(); p < e; ++p)
    if (seen.insert({config.devices[p], config.tileOf(op.rules, p)}).second)
      points.push_back(p);
  return points;
}

//===----------------------------------------------------------------------===//
// What is needed where
//===----------------------------------------------------------------------===//

std::vector<Need> ffc::plan::homeOf(const Graph &graph, StateId state,
                                    const Configuration &update) {
  const Value &written = graph.value(graph.states[state].written);
  const Op &op = graph.op(written.producer);
  int slot = static_cast<int>(op.operands.size()) + written.result;
  std::vector<Need> homes;
  for (const Phase &phase : scheduleFor(op.rules, update).phases)
    for (const SlotWrite &write : phase.writes)
      if (write.slot == slot)
        for (int64_t point : distinctPoints(op, update)) {
          Need home{update.devices[point],
                    regionOf(write.access, op.rules.dims,
                             update.tileOf(op.rules, point),
                             written.type.shape),
                    MemoryOrder::RowMajor};
          if (std::find(homes.begin(), homes.end(), home) == homes.end())
            homes.push_back(home);
        }
  return homes;
}

void ffc::plan::reshardTo(ProgramBuilder &build, const CostModel &cost,
                          Placement &where, ValueId value,
                          const TensorType &type, const std::string &name,
                          const std::vector<Need> &needed, TaskId task) {
  std::vector<Need> targets;
  for (const Need &target : needed) {
    if (where.find(target) >= 0 ||
        std::find(targets.begin(), targets.end(), target) != targets.end())
      continue;
    if (!target.region.empty()) {
      targets.push_back(target);
      continue;
    }
    BufferId buffer =
        build.addBuffer(target.device, value, name, type, target.region,
                        target.order, Section::Arena);
    where.holdings.push_back(
        {target.device, target.region, target.order, buffer});
  }
  if (targets.empty())
    return;
  ReshardPlan plan =
      planReshard(where.holdings, where.groups, targets, type, cost);
  ReshardBuilder(build, value, type, name, task)
      .apply(plan, where.holdings, where.groups, targets);
}

std::vector<Need> ffc::plan::lossNeeds(const Placement &where,
                                       const TensorType &type) {
  Need target{0, Region(Box::whole(type.shape)), MemoryOrder::RowMajor};
  std::vector<Need> needs = {target};
  for (const PartialGroup &group : where.groups)
    for (const PartialGroup::Member &member : group.members)
      if ((target.device = member.device) != 0)
        needs.push_back(target);
  return needs;
}

std::vector<Need> ffc::plan::outputNeeds(const Placement &where) {
  std::vector<Need> needs;
  for (const PartialGroup &group : where.groups)
    needs.push_back({group.members[0].device, Region(group.box), group.order});
  return needs;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

Placement &OpPlanner::placement(OpId op, int slot) {
  ValueId value = graph.slotValue(op, slot);
  return value >= 0 ? placementOf(value) : internals[slot];
}

/// The order that `Follow` stands for in `op`.
MemoryOrder OpPlanner::followedOrder(OpId op, const Phase &phase, int &rank) {
  for (const SlotRead &read : phase.reads)
    if (read.access.order == MemoryOrder::Follow && present(op, read.slot)) {
      rank = static_cast<int>(graph.slotType(op, read.slot).shape.size());
      return placement(op, read.slot).order;
    }
  rank = -1;
  return MemoryOrder::RowMajor;
}

bool OpPlanner::present(OpId op, int slot) const {
  int visible = static_cast<int>(graph.op(op).operands.size() +
                                 graph.op(op).results.size());
  return slot >= visible || graph.slotValue(op, slot) >= 0;
}

std::string OpPlanner::slotName(OpId op, int slot) const {
  ValueId value = graph.slotValue(op, slot);
  return value >= 0 ? graph.value(value).name
                    : graph.op(op).name + ".internal" + std::to_string(slot);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The operand buffer that result slot `slot` overwrites, or -1.
static BufferId inPlaceBuffer(const Op &op, const Phase &phase, int slot,
                              const std::vector<BufferId> &ins) {
  int result = slot - static_cast<int>(op.operands.size());
  for (auto [inPlaceResult, operand] : op.rules.inPlace)
    if (inPlaceResult == result)
      for (size_t r = 0; r < phase.reads.size(); ++r)
        if (phase.reads[r].slot == operand)
          return ins[r];
  return -1;
}

/// Notes a result shard. A partial shard on a device that already holds a
/// partial sum of the same box is added to it: returns that buffer, else -1.
static BufferId record(Placement &where, const Configuration &config,
                       int64_t point, const SlotWrite &write, DeviceId device,
                       const Region &region, MemoryOrder order,
                       BufferId buffer) {
  bool partial = false, laterCopy = false;
  std::vector<int64_t> index = config.coordinates(point);
  for (size_t a = 0; a < config.axes.size(); ++a) {
    int dim = config.axes[a].dim;
    if (dim == kReplica) {
      laterCopy |= index[a] != 0;
      continue;
    }
    bool involved = false;
    for (const DimMap &map : write.access.dims)
      involved |= map.involves(dim);
    if (!involved && config.axes[a].degree > 1)
      partial |= write.reduction != Reduction::None;
  }
  if (!partial) {
    where.holdings.push_back({device, region, order, buffer});
    return -1;
  }
  // Copies of partial sums may be added up in different orders, so that only
  // the first copy counts.
  if (laterCopy)
    return -1;
  Box box = region.box();
  for (PartialGroup &group : where.groups) {
    if (group.box != box)
      continue;
    for (const PartialGroup::Member &member : group.members)
      if (member.device == device)
        return member.buffer;
    group.members.push_back({device, buffer});
    return -1;
  }
  where.groups.push_back({box, write.reduction, order, {{device, buffer}}});
  return -1;
}

/// Members in ascending order; a group of one member is complete.
static void closeGroups(Placement &where) {
  std::vector<PartialGroup> open;
  for (PartialGroup &group : where.groups) {
    std::sort(group.members.begin(), group.members.end(),
              [](const auto &a, const auto &b) { return a.device < b.device; });
    if (group.members.size() == 1)
      where.holdings.push_back({group.members[0].device, Region(group.box),
                                group.order, group.members[0].buffer});
    else
      open.push_back(std::move(group));
  }
  where.groups = std::move(open);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

void OpPlanner::plan(OpId id, const Configuration &config) {
  const Op &op = graph.op(id);
  const Schedule &schedule = scheduleFor(op.rules, config);
  std::vector<int64_t> points = distinctPoints(op, config);
  internals.clear();
  for (size_t p = 0; p < schedule.phases.size(); ++p)
    planPhase(id, static_cast<int>(p), schedule.phases[p], config, points);
}

void OpPlanner::planPhase(OpId id, int phaseIndex, const Phase &phase,
                          const Configuration &config,
                          const std::vector<int64_t> &points) {
  const Op &op = graph.op(id);
  int followedRank;
  MemoryOrder followed = followedOrder(id, phase, followedRank);
  auto orderOf = [&](const Access &access, const TensorType &type) {
    int rank = static_cast<int>(type.shape.size());
    if (access.order != MemoryOrder::Follow)
      return access.order;
    return rank == followedRank ? followed : MemoryOrder::RowMajor;
  };
  std::vector<Tile> tiles;
  for (int64_t point : points)
    tiles.push_back(config.tileOf(op.rules, point));
  // ins[i][r]: the buffer point i reads in slot phase.reads[r].
  std::vector<std::vector<BufferId>> ins(
      points.size(), std::vector<BufferId>(phase.reads.size(), -1));
  for (size_t r = 0; r < phase.reads.size(); ++r) {
    const SlotRead &read = phase.reads[r];
    if (!present(id, read.slot))
      continue;
    const TensorType &type = graph.slotType(id, read.slot);
    std::vector<Need> needed;
    for (size_t i = 0; i < points.size(); ++i)
      needed.push_back(
          {config.devices[points[i]],
           regionOf(read.access, op.rules.dims, tiles[i], type.shape),
           orderOf(read.access, type)});
    Placement &where = placement(id, read.slot);
    ValueId value = graph.slotValue(id, read.slot);
    // Internal tensors have negative numbers in place of a value's.
    int subject = value >= 0 ? value : -read.slot;
    std::string name = slotName(id, read.slot);
    provide(where,
            {id, read.slot, {id, phaseIndex, subject, 1}, name, type, needed});
    for (size_t i = 0; i < points.size(); ++i)
      ins[i][r] = where.find(needed[i]);
  }

  for (size_t i = 0; i < points.size(); ++i) {
    DeviceId device = config.devices[points[i]];
    Action action;
    action.kind = Action::Kind::Kernel;
    action.task = {id, phaseIndex, static_cast<int>(points[i]), 0};
    action.name = op.name;
    action.kernel = phase.kernel;
    action.tile = tiles[i];
    action.ins = ins[i];
    struct Addition {
      BufferId into, from;
      Reduction how;
    };
    std::vector<Addition> accumulate;
    for (const SlotWrite &write : phase.writes) {
      if (!present(id, write.slot)) {
        action.outs.push_back(-1);
        continue;
      }
      const TensorType &type = graph.slotType(id, write.slot);
      Region region =
          regionOf(write.access, op.rules.dims, tiles[i], type.shape);
      MemoryOrder order = orderOf(write.access, type);
      BufferId out = inPlaceBuffer(op, phase, write.slot, ins[i]);
      if (out < 0)
        out = build.addBuffer(device, graph.slotValue(id, write.slot),
                              slotName(id, write.slot), type, region, order,
                              Section::Arena);
      action.outs.push_back(out);
      Placement &where = placement(id, write.slot);
      where.order = order;
      BufferId into =
          record(where, config, points[i], write, device, region, order, out);
      if (into >= 0)
        accumulate.push_back({into, out, write.reduction});
    }
    build.device(device).flops += flopsOf(phase, tiles[i]);
    build.addAction(device, std::move(action));
    for (auto [into, from, how] : accumulate)
      build.addCopy(device, into, from, how,
                    {id, phaseIndex, static_cast<int>(points[i]), -1},
                    op.name + " partial sums");
  }
  for (const SlotWrite &write : phase.writes)
    if (present(id, write.slot))
      closeGroups(placement(id, write.slot));
}
