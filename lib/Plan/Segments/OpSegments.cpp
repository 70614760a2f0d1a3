//===- OpSegments.cpp - segments of operators, whole or in turns ----------===//

#include "SegmentTables.h"
#include "Step/ReshardWriter.h"
#include "Timing/TimeSink.h"

#include <algorithm>
#include <utility>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Where turns have their parts
//===----------------------------------------------------------------------===//

/// By how much each of `turns` turns lies behind the one before, if the last
/// part of the last one is `to` where the first one's is `from`.
static std::optional<Shape> shiftOf(const Region &from, const Region &to,
                                    int64_t turns) {
  Shape shift;
  for (int d = 0; d < from.rank(); ++d) {
    const Region::Intervals a = from.dim(d), b = to.dim(d);
    shift.push_back(a.empty() || b.empty() ? 0 : b[0].lo - a[0].lo);
    if (a.size() != b.size() || shift[d] % turns != 0)
      return std::nullopt;
    for (size_t i = 0; i < a.size(); ++i)
      if (b[i].lo - a[i].lo != shift[d] || b[i].hi - a[i].hi != shift[d])
        return std::nullopt;
    shift[d] /= turns;
  }
  return shift;
}

/// The same of all parts, in their order; nothing if they differ.
static std::optional<Shape> shiftOf(const std::vector<Need> &from,
                                    const std::vector<Need> &to,
                                    int64_t turns) {
  if (from.size() != to.size() || from.empty())
    return std::nullopt;
  std::optional<Shape> shift;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].device != to[i].device || from[i].order != to[i].order)
      return std::nullopt;
    if (from[i].region.empty() && to[i].region.empty())
      continue;
    const auto one = shiftOf(from[i].region, to[i].region, turns);
    if (!one || (shift && *one != *shift))
      return std::nullopt;
    shift = one;
  }
  return shift ? shift : Shape(from[0].region.rank());
}

static bool isZero(const Shape &shift) {
  return std::all_of(shift.begin(), shift.end(),
                     [](int64_t by) { return by == 0; });
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace {
/// Plans turns of an operator one after the other.
class TurnPlanner {
public:
  TurnPlanner(const Graph &graph, const MemoryOrders &orders, int numDevices,
              const CostModel &cost)
      : graph(graph), cost(cost), sink(graph, numDevices, cost),
        planner(
            graph, orders, sink,
            [this](ValueId value) -> Placement & { return placements[value]; },
            [this](Placement &where, const OperandRead &read) {
              provide(where, read);
            },
            // Where a result lies takes no time.
            [](ValueId, const Need &) -> BufferId { return -1; }) {}

  struct Step {
    int slot = -1; ///< as OpSegment::Step's
    std::vector<Need> needed;
    TimedTasks tasks;
  };
  /// Nothing is left of what earlier turns have read, nor of sums of theirs.
  std::vector<Step> plan(const Turn &turn, const Configuration &config) {
    const Op &op = graph.op(turn.op);
    for (ValueId value : op.operands)
      if (value >= 0)
        placements.erase(value);
    for (size_t r = 0; r < op.results.size(); ++r)
      if (turn.hasOwnSum(r))
        placements.erase(op.results[r]);
    planner.plan(turn, config);
    flush();
    return std::move(steps);
  }

  const Placement &placement(ValueId value) { return placements[value]; }

private:
  void flush() {
    if (!sink.empty())
      steps.push_back({-1, {}, sink.take()});
  }

  void provide(Placement &where, const OperandRead &read) {
    if (graph.slotValue(read.op, read.slot) < 0) {
      reshardTo(sink, cost, where, -1, read.type, "", read.needed, read.first);
      return;
    }
    bool isMissing = false;
    for (const Need &need : read.needed) {
      if (where.find(need) >= 0)
        continue;
      isMissing = true;
      where.holdings.add(
          {need.device, need.region, need.order,
           sink.addBuffer(need.device, -1, "", read.type, need.region,
                          need.order, Section::Arena)});
    }
    if (!isMissing)
      return;
    flush();
    steps.push_back({graph.firstSlot(read.op, read.slot), read.needed, {}});
  }

  const Graph &graph;
  const CostModel &cost;
  TimeSink sink;
  std::map<ValueId, Placement> placements;
  std::vector<Step> steps;
  OpPlanner planner;
};
} // namespace

/// OpSegment::reads.
static void indexReads(OpSegment &segment) {
  int last = -1;
  for (const OpSegment::Step &step : segment.steps)
    last = std::max(last, step.slot);
  std::vector<int32_t> &ends = segment.endOfReads;
  ends.resize(last + 1);
  for (const OpSegment::Step &step : segment.steps)
    if (step.slot >= 0)
      ++ends[step.slot];
  int32_t sum = 0;
  for (int32_t &end : ends)
    end = std::exchange(sum, sum + end); // where they begin, for now
  segment.reads.resize(sum);
  for (size_t s = 0; s < segment.steps.size(); ++s)
    if (const int slot = segment.steps[s].slot; slot >= 0)
      segment.reads[ends[slot]++] = static_cast<int32_t>(s);
}

OpSegment SegmentTable::Tables::makeOp(OpId id, const Configuration &config) {
  TurnPlanner planner(graph, orders, numDevices, cost);
  OpSegment segment;
  std::vector<Picoseconds> busy(numDevices);
  for (TurnPlanner::Step &planned : planner.plan({id}, config)) {
    OpSegment::Step &step = segment.steps.emplace_back();
    step.slot = planned.slot;
    if (planned.slot >= 0)
      step.need = internNeeds(planned.needed);
    step.tasks = std::move(planned.tasks);
    step.tasks.eachPart([&](const TimedTasks::Part &part) {
      busy[part.device] += part.duration;
    });
  }
  indexReads(segment);
  while (!busy.empty() && busy.back() == 0)
    busy.pop_back();
  const auto first = std::find_if(busy.begin(), busy.end(),
                                  [](Picoseconds time) { return time > 0; });
  segment.firstBusy = static_cast<DeviceId>(first - busy.begin());
  segment.busy.assign(first, busy.end());
  for (ValueId result : graph.op(id).results)
    segment.results.push_back(result < 0
                                  ? -1
                                  : internLayout(graph.value(result).type,
                                                 planner.placement(result)));
  return segment;
}

/// Is the result a sum over turns along `dim`?
static bool isSum(const Op &op, const Configuration &config, int slot,
                  int dim) {
  for (const Phase &phase : scheduleFor(op.rules, config).phases)
    for (const SlotWrite &write : phase.writes)
      if (write.slot == slot && write.isPartialAlong(dim))
        return true;
  return false;
}

/// Have all turns blocks of the same sizes, in the same order?
static bool areEqualTurns(const IterDim &split, const Configuration &config,
                          int dim, int parts) {
  const auto axis =
      std::find_if(config.axes.begin(), config.axes.end(),
                   [&](const GridAxis &a) { return a.dim == dim; });
  const int64_t degree = axis == config.axes.end() ? 1 : axis->degree;
  if (axis == config.axes.end() || axis->shares.empty())
    return split.extent % (split.granularity * degree) == 0;
  const int64_t ofTurn = degree / parts;
  for (int64_t i = ofTurn; i < degree; ++i) {
    const Interval block = axis->blockOf(split, i),
                   before = axis->blockOf(split, i - ofTurn);
    if ((block.lo - before.lo) * parts != split.extent ||
        (block.hi - before.hi) * parts != split.extent)
      return false;
  }
  return true;
}

/// Are all turns on the same devices, in the same order?
static bool areOnSameDevices(const Op &op, const Configuration &config,
                             int parts, const Turn &first) {
  std::vector<DeviceId> devices;
  for (Turn turn = first; turn.part < parts; ++turn.part) {
    std::vector<DeviceId> ofTurn;
    for (int64_t point : pointsOf(op, config, turn))
      ofTurn.push_back(config.devices[point]);
    if (turn.isFirst())
      devices = std::move(ofTurn);
    else if (ofTurn != devices)
      return false;
  }
  return true;
}

TurnSegment SegmentTable::Tables::makeTurns(const Turn &turn,
                                            const Configuration &config) {
  const OpId id = turn.op;
  const int parts = turn.parts, dim = turn.dim;
  const Op &op = graph.op(id);
  const IterDim &split = op.rules.dims[dim];
  Turn first = turn, last = turn;
  first.part = 0;
  last.part = parts - 1;
  if (!areEqualTurns(split, config, dim, parts) ||
      !areOnSameDevices(op, config, parts, first))
    return {};
  const int64_t turns = parts - 1;
  TurnPlanner planner(graph, orders, numDevices, cost);
  TurnSegment segment;
  auto steps = planner.plan(first, config);
  for (ValueId result : op.results) {
    TurnSegment::Result &added = segment.results.emplace_back();
    if (result < 0)
      continue;
    added.layout =
        internLayout(graph.value(result).type, planner.placement(result));
    const auto shift = shiftOf(writtenIn(graph, result, first, config),
                               writtenIn(graph, result, last, config), turns);
    if (!shift)
      return {};
    added.shift = *shift;
    const int slot =
        static_cast<int>(op.operands.size()) + graph.value(result).result;
    if (isZero(*shift) != isSum(op, config, slot, dim))
      return {};
  }
  auto lastSteps = planner.plan(last, config);
  if (steps.size() != lastSteps.size())
    return {};
  for (size_t s = 0; s < steps.size(); ++s) {
    TurnPlanner::Step &a = steps[s], &b = lastSteps[s];
    if (a.slot != b.slot)
      return {};
    TurnSegment::Step read;
    read.slot = a.slot;
    if (a.slot >= 0) {
      const auto shift = shiftOf(a.needed, b.needed, turns);
      if (!shift)
        return {};
      read.shift = *shift;
      read.need = internNeeds(a.needed);
    }
    segment.first.push_back(read);
    segment.later.push_back(std::move(read));
    segment.first.back().tasks = std::move(a.tasks);
    segment.later.back().tasks = std::move(b.tasks);
  }
  for (size_t r = 0; r < op.results.size(); ++r)
    if (TurnSegment::Result &result = segment.results[r];
        op.results[r] >= 0 && isZero(result.shift) && !turn.hasOwnSum(r))
      result.sum = internLayout(graph.value(op.results[r]).type,
                                planner.placement(op.results[r]));
  segment.isRegular = true;
  return segment;
}

const TurnSegment &SegmentTable::turns(const Turn &turn, ConfigId config) {
  auto [it, isNew] = tables->turns.try_emplace(
      {tables->classes[turn.op], config, turn.parts, turn.dim, turn.ownSums});
  if (isNew)
    it->second = tables->makeTurns(turn, tables->configs[config]);
  return it->second;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SendSegment SegmentTable::Tables::makeSend(LayoutId layout, NeedId need) {
  SendSegment segment;
  segment.after = layout;
  const std::vector<PartCode> parts = missing(layout, need);
  if (parts.empty())
    return segment;
  const Layout &from = layouts[layout];
  TimeSink sink(graph, numDevices, cost);
  Placement where = placementOf(from, sink);
  const std::string name; // outlives the writer
  const PlannedReshard planned = planReshardTo(
      sink, cost, where, -1, from.type, name, partsOf(parts), planMessages);
  if (planned.targets.empty() ||
      !isMessages(planned.plan, where.holdings, planned.targets))
    return segment;
  segment.isThere = true;
  for (const TransferStep &step : planned.plan.transfers) {
    segment.sent.push_back(step.holding);
    if (!step.packed)
      segment.sentInPlace.push_back(step.holding);
  }
  TaskSink::Waits waits;
  ReshardWriter(sink, -1, from.type, name, {}, planned.targets)
      .write(planned.plan, where.holdings, where.groups, &waits);
  for (const Need &target : planned.targets) {
    segment.received.push_back(where.holdings.find(target));
    segment.receivers.push_back(target.device);
  }
  std::sort(segment.receivers.begin(), segment.receivers.end());
  segment.tasks = sink.take();
  segment.after = internLayout(from.type, where, &from);
  return segment;
}

const SendSegment &SegmentTable::send(LayoutId layout, NeedId need) {
  return lookUp(tables->sends, layout, need,
                [&] { return tables->makeSend(layout, need); });
}
