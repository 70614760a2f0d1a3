//===- Planner.cpp - from a strategy to the tasks of every device ---------===//

#include "ffc/Plan/Planner.h"

#include "ProgramBuilder.h"
#include "ffc/Plan/Arena.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ffc::plan;

namespace {

/// Where the parts of one value are at the current place of the order.
struct Placement {
  std::vector<Holding> holdings;
  std::vector<PartialGroup> groups;
  MemoryOrder order = MemoryOrder::RowMajor; ///< of the produced shards
  bool probed = false;
};

class Planner {
public:
  Planner(const Graph &graph, const Strategy &strategy, int numDevices,
          const CostModel &cost)
      : graph(graph), strategy(strategy), cost(cost), build(numDevices),
        values(graph.values.size()) {
    for (const Output &output : graph.outputs)
      outputNames[output.value].push_back(output.name);
  }

  Program run() {
    placeState();
    for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op)
      planOp(op);
    for (const Output &output : graph.outputs)
      probeAtEnd(output.value);
    storeStates();
    for (DeviceProgram &device : build.program.devices)
      assignOffsets(graph, strategy, device);
    return std::move(build.program);
  }

private:
  // state and inputs

  /// A state that is updated lives where its update writes it.
  void placeState() {
    for (StateId s = 0; s < static_cast<StateId>(graph.states.size()); ++s) {
      const State &state = graph.states[s];
      if (state.written < 0)
        continue;
      const Value &written = graph.value(state.written);
      const Op &op = graph.op(written.producer);
      const Configuration &config = strategy[written.producer];
      int slot = static_cast<int>(op.operands.size()) + written.result;
      for (const Phase &phase : scheduleFor(op.rules, config).phases)
        for (const SlotWrite &write : phase.writes)
          if (write.slot == slot)
            for (int64_t point : distinctPoints(op, config))
              addState(s, config.devices[point],
                       regionOf(write.access, op.rules.dims,
                                config.tileOf(op.rules, point),
                                written.type.shape));
    }
  }

  void addState(StateId s, DeviceId device, const Region &region,
                MemoryOrder order = MemoryOrder::RowMajor) {
    ValueId read = graph.states[s].read;
    for (const Holding &holding : values[read].holdings)
      if (holding.device == device && holding.region == region &&
          holding.order == order)
        return;
    BufferId buffer = newBuffer(device, read, graph.value(read).name, region,
                                order, Section::State);
    build.device(device).states.push_back({s, buffer});
    values[read].holdings.push_back({device, region, order, buffer});
  }

  /// Values that were not written in place of the states they are stored in are
  /// copied there, after all that reads the old ones.
  void storeStates() {
    for (StateId s = 0; s < static_cast<StateId>(graph.states.size()); ++s)
      if (graph.states[s].written >= 0)
        storeState(s);
  }

  void storeState(StateId s) {
    const State &state = graph.states[s];
    const Value &written = graph.value(state.written);
    Placement &where = values[state.written];
    auto inPlace = [&](const Holding &home) {
      for (const Holding &holding : where.holdings)
        if (holding.device == home.device && holding.buffer == home.buffer)
          return true;
      return false;
    };
    std::vector<Holding> homes;
    std::vector<Need> targets;
    for (const Holding &home : values[state.read].holdings)
      if (build.device(home.device).buffers[home.buffer].section ==
              Section::State &&
          !inPlace(home)) {
        homes.push_back(home);
        targets.push_back({home.device, home.region, home.order});
      }
    provide(where, state.written, written.type, written.name, targets,
            {written.producer, 0, state.written, 1});
    for (size_t i = 0; i < homes.size(); ++i)
      build.addCopy(homes[i].device, homes[i].buffer, find(where, targets[i]),
                    Reduction::None, {written.producer, 0, s, -2},
                    state.name + " stored");
  }

  /// Inputs and constant state can be loaded anywhere: no communication.
  bool loadedAnywhere(ValueId value) const {
    const Value &v = graph.value(value);
    return v.kind == ValueKind::Input ||
           (v.kind == ValueKind::State && graph.states[v.state].written < 0);
  }

  void load(ValueId value, const Need &target) {
    const Value &v = graph.value(value);
    if (v.kind == ValueKind::State)
      return addState(v.state, target.device, target.region, target.order);
    BufferId buffer = newBuffer(target.device, value, v.name, target.region,
                                target.order, Section::Arena);
    build.device(target.device).inputs.push_back({value, buffer});
    values[value].holdings.push_back(
        {target.device, target.region, target.order, buffer});
  }

  BufferId newBuffer(DeviceId device, ValueId value, const std::string &name,
                     const Region &region, MemoryOrder order, Section section) {
    const TensorType &type = graph.value(value).type;
    return build.addBuffer(device, value, name, type, region, order, section);
  }

  // operators

  /// Points of `config` without those that would compute on a device what an
  /// earlier point computes there already (replicas on one device).
  static std::vector<int64_t> distinctPoints(const Op &op,
                                             const Configuration &config) {
    std::set<std::pair<DeviceId, Tile>> seen;
    std::vector<int64_t> points;
    for (int64_t p = 0, e = config.numPoints(); p < e; ++p)
      if (seen.insert({config.devices[p], config.tileOf(op.rules, p)}).second)
        points.push_back(p);
    return points;
  }

  Placement &placement(OpId op, int slot, std::map<int, Placement> &internals) {
    ValueId value = graph.slotValue(op, slot);
    return value >= 0 ? values[value] : internals[slot];
  }

  /// The order that `Follow` stands for in `op`.
  MemoryOrder followedOrder(OpId op, const Phase &phase, int &rank,
                            std::map<int, Placement> &internals) {
    for (const SlotRead &read : phase.reads)
      if (read.access.order == MemoryOrder::Follow && present(op, read.slot)) {
        rank = static_cast<int>(graph.slotType(op, read.slot).shape.size());
        return placement(op, read.slot, internals).order;
      }
    rank = -1;
    return MemoryOrder::RowMajor;
  }

  bool present(OpId op, int slot) const {
    int visible = static_cast<int>(graph.op(op).operands.size() +
                                   graph.op(op).results.size());
    return slot >= visible || graph.slotValue(op, slot) >= 0;
  }

  void planOp(OpId id) {
    const Op &op = graph.op(id);
    const Configuration &config = strategy[id];
    const Schedule &schedule = scheduleFor(op.rules, config);
    std::vector<int64_t> points = distinctPoints(op, config);
    std::map<int, Placement> internals;
    for (size_t p = 0; p < schedule.phases.size(); ++p)
      planPhase(id, static_cast<int>(p), schedule.phases[p], config, points,
                internals);
    for (ValueId result : op.results)
      if (result >= 0) {
        if (result == graph.loss)
          placeLoss(id);
        probeIfComplete(result);
      }
  }

  void planPhase(OpId id, int phaseIndex, const Phase &phase,
                 const Configuration &config,
                 const std::vector<int64_t> &points,
                 std::map<int, Placement> &internals) {
    const Op &op = graph.op(id);
    int followedRank;
    MemoryOrder followed = followedOrder(id, phase, followedRank, internals);
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
      Placement &where = placement(id, read.slot, internals);
      ValueId value = graph.slotValue(id, read.slot);
      // Internal tensors have negative numbers in place of a value's.
      int subject = value >= 0 ? value : -read.slot;
      provide(where, value, type, slotName(id, read.slot), needed,
              {id, phaseIndex, subject, 1});
      for (size_t i = 0; i < points.size(); ++i)
        ins[i][r] = find(where, needed[i]);
      probeIfComplete(value);
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
        Placement &where = placement(id, write.slot, internals);
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
        closeGroups(placement(id, write.slot, internals));
  }

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

  std::string slotName(OpId op, int slot) const {
    ValueId value = graph.slotValue(op, slot);
    return value >= 0 ? graph.value(value).name
                      : graph.op(op).name + ".internal" + std::to_string(slot);
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
      std::sort(
          group.members.begin(), group.members.end(),
          [](const auto &a, const auto &b) { return a.device < b.device; });
      if (group.members.size() == 1)
        where.holdings.push_back({group.members[0].device, Region(group.box),
                                  group.order, group.members[0].buffer});
      else
        open.push_back(std::move(group));
    }
    where.groups = std::move(open);
  }

  // reshards

  static BufferId find(const Placement &where, const Need &target) {
    for (const Holding &holding : where.holdings)
      if (holding.device == target.device && holding.region == target.region &&
          holding.order == target.order)
        return holding.buffer;
    return -1;
  }

  /// Makes every target a holding.
  void provide(Placement &where, ValueId value, const TensorType &type,
               const std::string &name, const std::vector<Need> &needed,
               TaskId task) {
    std::vector<Need> targets;
    for (const Need &target : needed) {
      if (find(where, target) >= 0 ||
          std::find(targets.begin(), targets.end(), target) != targets.end())
        continue;
      if (target.region.empty()) {
        BufferId buffer =
            build.addBuffer(target.device, value, name, type, target.region,
                            target.order, Section::Arena);
        where.holdings.push_back(
            {target.device, target.region, target.order, buffer});
      } else if (value >= 0 && loadedAnywhere(value)) {
        load(value, target);
      } else {
        targets.push_back(target);
      }
    }
    if (targets.empty())
      return;
    ReshardPlan plan =
        planReshard(where.holdings, where.groups, targets, type, cost);
    ReshardBuilder(build, value, type, name, task)
        .apply(plan, where.holdings, where.groups, targets);
  }

  // outputs

  void placeLoss(OpId op) {
    Need target{0, Region(Box::whole(graph.value(graph.loss).type.shape)),
                MemoryOrder::RowMajor};
    Placement &where = values[graph.loss];
    // Whoever holds a part of the sum gets all of it, so that ranks which
    // compute the same also communicate the same.
    std::vector<Need> targets = {target};
    for (const PartialGroup &group : where.groups)
      for (const PartialGroup::Member &member : group.members)
        if ((target.device = member.device) != 0)
          targets.push_back(target);
    provide(where, graph.loss, graph.value(graph.loss).type,
            graph.value(graph.loss).name, targets, {op, 0, graph.loss, 1});
    for (const Holding &holding : where.holdings)
      build.device(holding.device).loss = holding.buffer;
  }

  /// Offers an output for dumping as soon as all of it is somewhere.
  void probeIfComplete(ValueId value) {
    auto it = outputNames.find(value);
    if (value < 0 || it == outputNames.end() || values[value].probed)
      return;
    const Placement &where = values[value];
    std::vector<Box> rest = {Box::whole(graph.value(value).type.shape)};
    std::map<std::pair<DeviceId, Region>, BufferId> offers;
    for (const Holding &holding : where.holdings) {
      if (!holding.region.isBox() || holding.region.empty())
        continue;
      offers.emplace(std::make_pair(holding.device, holding.region),
                     holding.buffer);
      std::vector<Box> next;
      for (const Box &part : rest)
        for (const Box &outside : subtract(part, holding.region.box()))
          next.push_back(outside);
      rest = std::move(next);
    }
    if (!rest.empty() || offers.empty())
      return;
    // All copies are offered, so that ranks which do the same are told to.
    values[value].probed = true;
    for (const auto &[place, buffer] : offers)
      for (const std::string &name : it->second) {
        Action action;
        action.kind = Action::Kind::Probe;
        action.name = action.probe = name;
        action.src = buffer;
        build.addAction(place.first, std::move(action));
      }
  }

  /// Outputs that are still partial sums are completed where their first member
  /// is.
  void probeAtEnd(ValueId value) {
    Placement &where = values[value];
    const Value &v = graph.value(value);
    if (!where.probed && !where.groups.empty()) {
      std::vector<Need> targets;
      for (const PartialGroup &group : where.groups)
        targets.push_back(
            {group.members[0].device, Region(group.box), group.order});
      provide(where, value, v.type, v.name, targets, {v.producer, 0, value, 1});
    }
    if (!where.probed && loadedAnywhere(value) && where.holdings.empty())
      load(value, {0, Region(Box::whole(v.type.shape)), MemoryOrder::RowMajor});
    probeIfComplete(value);
  }

  const Graph &graph;
  const Strategy &strategy;
  const CostModel &cost;
  ProgramBuilder build;
  std::vector<Placement> values;
  std::map<ValueId, std::vector<std::string>> outputNames;
};

} // namespace

Program ffc::plan::planProgram(const Graph &graph, const Strategy &strategy,
                               int numDevices, const CostModel &cost) {
  return Planner(graph, strategy, numDevices, cost).run();
}
