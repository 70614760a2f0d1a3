//===- OpPlanner.cpp - the tasks of one operator --------------------------===//

#include "OpPlanner.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace ffc::plan;

/// How many devices have points.
static int numDevices(const Configuration &config) {
  DeviceIndex index;
  for (DeviceId device : config.devices)
    index.add(device);
  return index.numDevices();
}

/// Those of `points` that do on their device what no earlier one does.
static std::vector<int64_t> distinct(const Op &op, const Configuration &config,
                                     std::vector<int64_t> points) {
  DeviceIndex index;
  for (int64_t point : points)
    index.add(config.devices[point]);
  if (static_cast<size_t>(index.numDevices()) == points.size())
    return points;
  std::set<std::pair<DeviceId, Tile>> seen;
  points.erase(std::remove_if(points.begin(), points.end(),
                              [&](int64_t p) {
                                return !seen.insert(
                                                {config.devices[p],
                                                 config.tileOf(op.rules, p)})
                                            .second;
                              }),
               points.end());
  return points;
}

std::vector<int64_t> ffc::plan::distinctPoints(const Op &op,
                                               const Configuration &config) {
  std::vector<int64_t> points(static_cast<size_t>(config.numPoints()));
  std::iota(points.begin(), points.end(), 0);
  return distinct(op, config, std::move(points));
}

std::vector<int64_t> ffc::plan::pointsOf(const Op &op,
                                         const Configuration &config,
                                         const Turn &turn) {
  if (turn.parts == 1)
    return distinctPoints(op, config);
  // Points of different turns differ in the dimension of these.
  int64_t inner = 1, degree = 1;
  for (size_t a = config.axes.size(); a-- > 0;) {
    degree = config.axes[a].degree;
    if (config.axes[a].dim == turn.dim)
      break;
    inner *= degree;
  }
  const int64_t outer = config.numPoints() / (inner * degree);
  std::vector<int64_t> points;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t at = 0; at < degree; ++at)
      if (at * turn.parts / degree == turn.part)
        for (int64_t i = 0; i < inner; ++i)
          points.push_back((o * degree + at) * inner + i);
  return distinct(op, config, std::move(points));
}

//===----------------------------------------------------------------------===//
// What is needed where
//===----------------------------------------------------------------------===//

std::vector<Need> ffc::plan::writtenIn(const Graph &graph, ValueId id,
                                       const Turn &turn,
                                       const Configuration &config) {
  const Value &value = graph.value(id);
  const Op &op = graph.op(turn.op);
  const int slot = static_cast<int>(op.operands.size()) + value.result;
  const std::vector<int64_t> points = pointsOf(op, config, turn);
  std::vector<Need> written;
  for (const Phase &phase : scheduleFor(op.rules, config).phases)
    for (const SlotWrite &write : phase.writes)
      if (write.slot == slot)
        for (int64_t point : points)
          written.push_back(
              {config.devices[point],
               regionOf(write.access, op.rules.dims,
                        config.tileOf(op.rules, point), value.type.shape),
               MemoryOrder::RowMajor});
  return distinctNeeds(written);
}

std::vector<Need> ffc::plan::homeOf(const Graph &graph, StateId state,
                                    const Configuration &update) {
  const ValueId written = graph.states[state].written;
  return writtenIn(graph, written, {graph.value(written).producer}, update);
}

/// What each point reads.
static std::vector<Need>
needsOf(const Graph &graph, const MemoryOrders &orders, OpId id,
        const Phase &phase, const SlotRead &read, const Configuration &config,
        const std::vector<int64_t> &points, const std::vector<Tile> &tiles) {
  const TensorType &type = graph.slotType(id, read.slot);
  const MemoryOrder order = orders.of(id, phase, read.access, read.slot);
  std::vector<Need> needs;
  for (size_t i = 0; i < points.size(); ++i)
    needs.push_back(
        {config.devices[points[i]],
         regionOf(read.access, graph.op(id).rules.dims, tiles[i], type.shape),
         order});
  return needs;
}

static std::vector<Tile> tilesOf(const Op &op, const Configuration &config,
                                 const std::vector<int64_t> &points) {
  std::vector<Tile> tiles;
  for (int64_t point : points)
    tiles.push_back(config.tileOf(op.rules, point));
  return tiles;
}

FirstRead ffc::plan::firstRead(const Graph &graph, const MemoryOrders &orders,
                               ValueId value, const Turn &turn,
                               const Configuration &config) {
  const OpId reader = turn.op;
  const Op &op = graph.op(reader);
  const std::vector<int64_t> points = pointsOf(op, config, turn);
  const Schedule &schedule = scheduleFor(op.rules, config);
  for (size_t p = 0; p < schedule.phases.size(); ++p)
    for (const SlotRead &read : schedule.phases[p].reads)
      if (graph.slotValue(reader, read.slot) == value)
        return {{reader, static_cast<int>(p), {value}},
                needsOf(graph, orders, reader, schedule.phases[p], read, config,
                        points, tilesOf(op, config, points))};
  return {};
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

Placement &OpPlanner::placement(OpId op, int slot) {
  ValueId value = graph.slotValue(op, slot);
  return value >= 0 ? placementOf(value) : internals[slot];
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

/// True if an earlier point makes the same part of what `write`, which is
/// partial, writes.
static bool isLaterCopy(const Configuration &config, const SlotWrite &write,
                        int64_t point) {
  bool later = false;
  for (size_t a = config.axes.size(); a-- > 0;) {
    const GridAxis &axis = config.axes[a];
    const bool copies =
        axis.dim == kReplica ||
        std::find(write.copiedAlong.begin(), write.copiedAlong.end(),
                  axis.dim) != write.copiedAlong.end();
    later |= copies && point % axis.degree != 0;
    point /= axis.degree;
  }
  return later;
}

/// The partial sum that a device already holds of a box, or -1.
BufferId OpPlanner::sumSoFar(const Region &region, DeviceId device) const {
  const auto group = open.byBox.find(region.box());
  if (group == open.byBox.end())
    return -1;
  const auto member = open.members.find(memberKey(group->second, device));
  return member == open.members.end() ? -1 : member->second;
}

/// Notes a partial shard. One on a device that already holds a partial sum of
/// the same box is added to it: returns that buffer, else -1.
BufferId OpPlanner::addPartial(Placement &where, const SlotWrite &write,
                               DeviceId device, const Region &region,
                               MemoryOrder order, BufferId buffer) {
  auto [it, added] =
      open.byBox.emplace(region.box(), static_cast<int>(where.groups.size()));
  const int group = it->second;
  if (added)
    where.groups.push_back({region.box(), write.reduction, order, {}});
  auto [member, isNew] = open.members.emplace(memberKey(group, device), buffer);
  if (!isNew)
    return member->second;
  where.groups[group].members.push_back({device, buffer});
  return -1;
}

/// Members in ascending order; a group of one member is complete.
static void closeGroups(Placement &where) {
  std::vector<PartialGroup> open;
  for (PartialGroup &group : where.groups) {
    std::sort(group.members.begin(), group.members.end(),
              [](const auto &a, const auto &b) { return a.device < b.device; });
    if (group.members.size() == 1)
      where.holdings.add({group.members[0].device, Region(group.box),
                          group.order, group.members[0].buffer});
    else
      open.push_back(std::move(group));
  }
  where.groups = std::move(open);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

void OpPlanner::plan(const Turn &turn, const Configuration &config) {
  const Op &op = graph.op(turn.op);
  const Schedule &schedule = scheduleFor(op.rules, config);
  const std::vector<int64_t> points = pointsOf(op, config, turn);
  internals.clear();
  for (size_t p = 0; p < schedule.phases.size(); ++p)
    planPhase(turn, static_cast<int>(p), schedule.phases[p], config, points);
}

void OpPlanner::planPhase(const Turn &turn, int phaseIndex, const Phase &phase,
                          const Configuration &config,
                          const std::vector<int64_t> &points) {
  const OpId id = turn.op;
  const Op &op = graph.op(id);
  const std::vector<Tile> tiles = tilesOf(op, config, points);
  auto hasOwnSum = [&](const SlotWrite &write) {
    return turn.hasOwnSum(static_cast<size_t>(write.slot) - op.operands.size());
  };
  auto isOverTurns = [&](const SlotWrite &write) {
    return turn.parts > 1 && write.isPartialAlong(turn.dim) &&
           !hasOwnSum(write);
  };
  // ins[i][r]: the buffer point i reads in slot phase.reads[r].
  std::vector<std::vector<BufferId>> ins(
      points.size(), std::vector<BufferId>(phase.reads.size(), -1));
  for (size_t r = 0; r < phase.reads.size(); ++r) {
    const SlotRead &read = phase.reads[r];
    if (!present(id, read.slot))
      continue;
    const TensorType &type = graph.slotType(id, read.slot);
    const std::vector<Need> needed =
        needsOf(graph, orders, id, phase, read, config, points, tiles);
    Placement &where = placement(id, read.slot);
    ValueId value = graph.slotValue(id, read.slot);
    std::string name = slotName(id, read.slot);
    const ReshardTask first{id, phaseIndex, {value, read.slot}};
    provide(where, {id, read.slot, first, name, type, needed});
    for (size_t i = 0; i < points.size(); ++i)
      ins[i][r] = where.find(needed[i]);
  }

  // Results are planned one after the other, so that each has its own groups.
  std::vector<std::vector<BufferId>> outs(
      points.size(), std::vector<BufferId>(phase.writes.size(), -1));
  struct Addition {
    BufferId into, from;
    Box box;
    Reduction how;
  };
  std::vector<std::vector<Addition>> additions(points.size());
  std::vector<std::vector<int>> addsTo(points.size());
  for (size_t w = 0; w < phase.writes.size(); ++w) {
    const SlotWrite &write = phase.writes[w];
    if (!present(id, write.slot))
      continue;
    const ValueId value = graph.slotValue(id, write.slot);
    const TensorType &type = graph.slotType(id, write.slot);
    const std::string name = slotName(id, write.slot);
    const bool partial = isPartial(config, write);
    Placement &where = placement(id, write.slot);
    const MemoryOrder order = orders.of(id, phase, write.access, write.slot);
    open = {};
    if (isOverTurns(write))
      open = std::move(overTurns[{id, write.slot}]);
    for (size_t i = 0; i < points.size(); ++i) {
      DeviceId device = config.devices[points[i]];
      Region region =
          regionOf(write.access, op.rules.dims, tiles[i], type.shape);
      // Copies of partial sums may be added up in different orders, so that
      // only the first copy counts.
      const bool counts = partial && !isLaterCopy(config, write, points[i]);
      if (counts && write.mayAccumulate && isSummedInPlace(type.type))
        if (const BufferId sum = sumSoFar(region, device); sum >= 0) {
          outs[i][w] = sum;
          addsTo[i].push_back(static_cast<int>(w));
          continue;
        }
      BufferId out = inPlaceBuffer(op, phase, write.slot, ins[i]);
      if (out < 0)
        out = stateBufferOf(value, {device, region, order});
      if (out < 0)
        out = sink.addBuffer(device, value, name, type, region, order,
                             Section::Arena);
      outs[i][w] = out;
      if (!partial) {
        where.holdings.add({device, region, order, out});
        continue;
      }
      if (!counts)
        continue;
      BufferId into = addPartial(where, write, device, region, order, out);
      if (into >= 0)
        additions[i].push_back({into, out, region.box(), write.reduction});
    }
    if (isOverTurns(write))
      overTurns[{id, write.slot}] = std::move(open);
  }

  const int devices = numDevices(config);
  for (size_t i = 0; i < points.size(); ++i) {
    const DeviceId device = config.devices[points[i]];
    const int point = static_cast<int>(points[i]);
    sink.kernel({device,
                 {id, phaseIndex, TaskId::Compute{point, turn.isAgain}},
                 phase,
                 tiles[i],
                 ins[i],
                 outs[i],
                 addsTo[i],
                 devices});
    for (const Addition &sum : additions[i])
      sink.copy({device, devices, sum.into, sum.from, sum.box, sum.how},
                {id, phaseIndex, TaskId::AddPartial{point, turn.isAgain}},
                op.name + " partial sums");
  }
  for (const SlotWrite &write : phase.writes)
    if (present(id, write.slot) && (turn.isLast() || !isOverTurns(write)))
      closeGroups(placement(id, write.slot));
}
