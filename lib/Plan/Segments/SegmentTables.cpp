//===- SegmentTables.cpp - how segments are made --------------------------===//

#include "SegmentTables.h"

#include "Step/ReshardWriter.h"
#include "Timing/TimeSink.h"

#include <algorithm>

using namespace ffc::plan;

/// All that decides the tasks of an operator besides its configuration, so that
/// equal layers share their segments.
static Key classKey(const Graph &graph, OpId id, const MemoryOrders &orders,
                    bool withAttributes) {
  const Op &op = graph.op(id);
  Key key;
  key.add(static_cast<int64_t>(op.rules.dims.size()));
  for (const IterDim &dim : op.rules.dims)
    key.add(dim.extent).add(dim.granularity);
  for (const Schedule &schedule : op.rules.schedules) {
    key.addAll(schedule.unsplit);
    key.add(static_cast<int64_t>(schedule.phases.size()));
    for (const Phase &phase : schedule.phases) {
      key.add(phase.kernel).add(phase.flopsPerPoint).add(phase.parts);
      key.add(static_cast<int64_t>(phase.startsWithOthers));
      key.add(static_cast<int64_t>(phase.reads.size()));
      for (const SlotRead &read : phase.reads)
        key.add(int64_t(read.slot)).add(read.access).add(read.touchedPerPoint);
      key.add(static_cast<int64_t>(phase.writes.size()));
      for (const SlotWrite &write : phase.writes)
        key.add(int64_t(write.slot))
            .add(write.access)
            .add(int64_t(write.reduction))
            .add(write.touchedPerPoint)
            .addAll(write.copiedAlong);
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
        key.add(graph.value(value).type).add(int64_t(orders.of(value)));
    }
  // What is read twice gets there once.
  for (ValueId value : op.operands)
    key.add(std::find(op.operands.begin(), op.operands.end(), value) -
            op.operands.begin());
  if (withAttributes)
    key.add(op.attributes);
  return key;
}

SegmentTable::Tables::Tables(const Graph &graph, int numDevices,
                             const CostModel &cost)
    : graph(graph), numDevices(numDevices), cost(cost), orders(graph),
      operators(graph, cost.overlaps()), inPlace(graph, orders, operators),
      readsApart(graph), order(graph, operators, inPlace) {
  for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op)
    classes.push_back(classIds.intern(
        classKey(graph, op, orders, cost.profile() != nullptr), op));
}

LayoutId SegmentTable::Tables::internLayout(const TensorType &type,
                                            const Placement &placement,
                                            const Layout *before) {
  Layout layout{type, {}, {}, false};
  Key key;
  key.add(type);
  layout.holdings.reserve(placement.holdings.size());
  if (before)
    layout.holdings = before->holdings;
  for (size_t h = layout.holdings.size(); h < placement.holdings.size(); ++h) {
    const Holding &holding = placement.holdings[h];
    layout.holdings.push_back(
        code(holding.device, holding.region, holding.order));
  }
  key.addAll(layout.holdings);
  for (const PartialGroup &group : placement.groups) {
    Region region(group.box);
    Layout::Group &added = layout.groups.emplace_back();
    added.region = regions.intern(region);
    added.reduction = group.reduction;
    added.order = group.order;
    for (const PartialGroup::Member &member : group.members)
      added.members.push_back(member.device);
    key.add(int64_t(added.region)).add(int64_t(added.reduction));
    key.add(int64_t(added.order)).addAll(added.members);
    // Mostly the first one says so.
    for (size_t h = 0;
         h < placement.holdings.size() && !layout.isPartlyComplete; ++h)
      placement.holdings[h].region.forEachBox([&](const Box &box) {
        layout.isPartlyComplete |= box.meets(group.box);
      });
  }
  return layouts.intern(key, std::move(layout));
}

NeedId SegmentTable::Tables::internNeeds(const std::vector<Need> &wanted) {
  std::vector<PartCode> codes; // each once
  DeviceIndex index;
  for (const Need &need : wanted) {
    const PartCode wantedCode = code(need.device, need.region, need.order);
    int known = index.first(need.device);
    while (known >= 0 && codes[known] != wantedCode)
      known = index.next(known);
    if (known >= 0)
      continue;
    index.add(need.device);
    codes.push_back(wantedCode);
  }
  Key key;
  key.addAll(codes);
  return needs.intern(key, std::move(codes));
}

std::vector<SegmentTable::Tables::PartCode>
SegmentTable::Tables::missing(LayoutId layout, NeedId need) const {
  const std::vector<PartCode> &have = layouts[layout].holdings;
  std::vector<PartCode> parts;
  parts.reserve(needs[need].size());
  for (PartCode part : needs[need])
    if (std::find(have.begin(), have.end(), part) == have.end())
      parts.push_back(part);
  return parts;
}

std::vector<Need>
SegmentTable::Tables::partsOf(const std::vector<PartCode> &codes) const {
  std::vector<Need> parts;
  parts.reserve(codes.size());
  for (PartCode code : codes)
    parts.push_back(part(code));
  return parts;
}

Placement SegmentTable::Tables::placementOf(const Layout &layout,
                                            TaskSink &sink) const {
  Placement placement;
  placement.holdings.reserve(2 * layout.holdings.size());
  auto buffer = [&](const Need &what) {
    return sink.addBuffer(what.device, -1, "", layout.type, what.region,
                          what.order, Section::Arena);
  };
  for (PartCode code : layout.holdings) {
    const Need have = part(code);
    placement.holdings.add(
        {have.device, have.region, have.order, buffer(have)});
  }
  for (const Layout::Group &group : layout.groups) {
    const Region &region = regions[group.region];
    PartialGroup &added = placement.groups.emplace_back();
    added = {region.box(), group.reduction, group.order, {}};
    for (DeviceId member : group.members)
      added.members.push_back({member, buffer({member, region, group.order})});
  }
  return placement;
}

ReshardSegment SegmentTable::Tables::makeReshard(LayoutId layout, NeedId need) {
  const std::vector<PartCode> parts = missing(layout, need);
  if (parts.empty())
    return {{}, layout};
  const Layout &from = layouts[layout];
  TimeSink sink(graph, numDevices, cost);
  Placement where = placementOf(from, sink);
  reshardTo(sink, cost, where, -1, from.type, "", partsOf(parts), {});
  return {sink.take(), internLayout(from.type, where, &from)};
}

int32_t SegmentTable::Tables::internShape(const BatchShape &shape) {
  Key key;
  key.add(int64_t(shape.type));
  std::vector<std::vector<DeviceId>> members;
  for (const BatchShape::Collective &collective : shape.all) {
    key.add(int64_t(collective.kind)).add(int64_t(collective.combine));
    key.addAll(collective.members);
    members.push_back(collective.members);
  }
  return shapes.intern(key, {std::move(members), BatchTimes(shape, cost)});
}

BatchId SegmentTable::Tables::internBatch(int32_t shape,
                                          const BatchBytes &bytes) {
  auto [it, added] = batchIds.try_emplace({shape, bytes},
                                          static_cast<BatchId>(batches.size()));
  if (added)
    batches.push_back({shape, bytes, shapes[shape].times.isFull(bytes), {}});
  return it->second;
}

StartSegment SegmentTable::Tables::makeStart(LayoutId layout, NeedId need) {
  StartSegment segment;
  segment.after = layout;
  const std::vector<PartCode> parts = missing(layout, need);
  if (parts.empty())
    return segment;
  const Layout &from = layouts[layout];
  TimeSink sink(graph, numDevices, cost);
  Placement where = placementOf(from, sink);
  const std::string name; // outlives the writer
  PlannedReshard planned =
      planReshardTo(sink, cost, where, -1, from.type, name, partsOf(parts));
  ReshardWriter writer(sink, -1, from.type, name, {}, planned.targets);
  if (!planned.plan.collectives.empty()) {
    planned.plan.transfers.clear();
    segment.batch =
        internBatch(internShape(shapeOf(planned.plan, where, from.type)),
                    bytesOf(planned.plan));
    TaskSink::Waits waits;
    writer.write(planned.plan, where.holdings, where.groups, &waits);
    segment.tasks = sink.take();
    segment.after = internLayout(from.type, where, &from);
    return segment;
  }
  // Nothing starts, and this is already the plan of what is done later.
  segment.after = internLayout(from.type, where, &from);
  if (const uint64_t key = pairKey(segment.after, need); !reshards.find(key)) {
    writer.write(planned.plan, where.holdings, where.groups);
    reshards.insert(key, {sink.take(), internLayout(from.type, where, &from)});
  }
  return segment;
}

void SegmentTable::Tables::storeIn(LayoutId home, const TensorType &type,
                                   Placement &where, TaskSink &sink) const {
  const std::vector<Need> targets = partsOf(layouts[home].holdings);
  reshardTo(sink, cost, where, -1, type, "", targets, {});
  std::vector<WholeCopy> copies;
  for (const Need &target : targets)
    copies.push_back({target,
                      sink.addBuffer(target.device, -1, "", type, target.region,
                                     target.order, Section::State),
                      where.find(target)});
  copyWhole(sink, copies, {}, {}, "");
}

ReshardSegment SegmentTable::Tables::makeStore(LayoutId written,
                                               LayoutId home) {
  const Layout &from = layouts[written];
  TimeSink sink(graph, numDevices, cost);
  Placement where = placementOf(from, sink);
  storeIn(home, from.type, where, sink);
  return {sink.take(), internLayout(from.type, where, &from)};
}

OwnSumSegment SegmentTable::Tables::makeOwnSum(LayoutId layout, NeedId need) {
  const Layout &of = layouts[layout];
  TimeSink sink(graph, numDevices, cost);
  const Placement ofTurn = placementOf(of, sink);
  const std::vector<Need> needed = partsOf(needs[need]);
  Placement sum;
  addOwnSum(sink, sum, ofTurn, needed, {}, "");
  addOwnSum(sink, sum, ofTurn, needed, {}, "");
  return {internLayout(of.type, sum), sink.take()};
}

TimedTasks SegmentTable::Tables::makeAccumulation(LayoutId layout) {
  const Layout &of = layouts[layout];
  TimeSink sink(graph, numDevices, cost);
  accumulate(sink, placementOf(of, sink), -1, of.type, "", {});
  return sink.take();
}
