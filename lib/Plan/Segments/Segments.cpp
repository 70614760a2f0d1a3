//===- Segments.cpp - what a plan is made of, kept and timed --------------===//

#include "ffc/Plan/Segments.h"

#include "SegmentTables.h"
#include "Timing/TimeSink.h"

using namespace ffc::plan;

SegmentTable::SegmentTable(const Graph &graph, int numDevices,
                           const CostModel &cost)
    : tables(std::make_unique<Tables>(graph, numDevices, cost)) {}
SegmentTable::~SegmentTable() = default;

const Graph &SegmentTable::graph() const { return tables->graph; }
int SegmentTable::numDevices() const { return tables->numDevices; }
const CostModel &SegmentTable::cost() const { return tables->cost; }
const StepOrder &SegmentTable::order() const { return tables->order; }

StepOrder SegmentTable::order(const Strategy &strategy,
                              const PipelineSchedule &schedule) const {
  return StepOrder::of(tables->graph, tables->operators, tables->inPlace,
                       strategy, schedule);
}

ConfigId SegmentTable::intern(const Configuration &config) {
  return tables->configs.intern(config);
}

const Configuration &SegmentTable::config(ConfigId id) const {
  return tables->configs[id];
}

ConfigId SegmentTable::follow(OpId op, ConfigId leader, bool sharesCopies) {
  if (!tables->followers)
    tables->followers.emplace(tables->graph, tables->classes);
  return tables->followers->follow(op, leader, sharesCopies, tables->configs);
}

const OpSegment &SegmentTable::op(OpId op, ConfigId config) {
  return lookUp(tables->ops, tables->classes[op], config,
                [&] { return tables->makeOp(op, tables->configs[config]); });
}

const ReshardSegment &SegmentTable::reshard(LayoutId layout, NeedId need) {
  return lookUp(tables->reshards, layout, need,
                [&] { return tables->makeReshard(layout, need); });
}

const StartSegment &SegmentTable::start(LayoutId layout, NeedId need) {
  return lookUp(tables->starts, layout, need,
                [&] { return tables->makeStart(layout, need); });
}

NeedId SegmentTable::sumsBeforeSending(LayoutId layout, NeedId need) {
  if (!isPartial(layout))
    return -1;
  return lookUp(tables->sumsBeforeSending, layout, need, [&]() -> NeedId {
    TimeSink sink(tables->graph, tables->numDevices, tables->cost);
    const std::vector<Need> sums = plan::sumsBeforeSending(
        tables->placementOf(tables->layouts[layout], sink),
        tables->partsOf(tables->needs[need]));
    return sums.empty() ? -1 : tables->internNeeds(sums);
  });
}

const OwnSumSegment &SegmentTable::ownSum(LayoutId layout, NeedId need) {
  return lookUp(tables->ownSums, layout, need,
                [&] { return tables->makeOwnSum(layout, need); });
}

const TimedTasks &SegmentTable::batch(BatchId id) {
  Tables::Batch &batch = tables->batches[id];
  if (batch.tasks.empty()) {
    const Tables::Shape &of = tables->shapes[batch.shape];
    for (size_t c = 0; c < batch.bytes.size(); ++c)
      batch.tasks.addCollective(of.members[c], of.times.of(c, batch.bytes[c]));
  }
  return batch.tasks;
}

BatchId SegmentTable::join(BatchId id, BatchId other) {
  return lookUp(tables->joined, id, other, [&] {
    BatchBytes bytes = tables->batches[id].bytes;
    for (size_t c = 0; c < bytes.size(); ++c)
      bytes[c] += tables->batches[other].bytes[c];
    return tables->internBatch(tables->batches[id].shape, bytes);
  });
}

int32_t SegmentTable::batchShape(BatchId id) const {
  return tables->batches[id].shape;
}

bool SegmentTable::isFull(BatchId id) const {
  return tables->batches[id].isFull;
}

bool SegmentTable::isPartial(LayoutId layout) const {
  return !tables->layouts[layout].groups.empty();
}

bool SegmentTable::isInPlace(ValueId value) const {
  return tables->inPlace.contains(value);
}

bool SegmentTable::isReadApart(OpId op, int slot, LayoutId layout) const {
  return tables->readsApart.contains(op, slot) &&
         (!isPartial(layout) || tables->layouts[layout].isPartlyComplete);
}

LayoutId SegmentTable::home(StateId state, ConfigId update) {
  const Value &written =
      tables->graph.value(tables->graph.states[state].written);
  // By result of the updates of one class.
  const int32_t result =
      tables->classes[written.producer] << 8 | written.result;
  return lookUp(tables->homes, result, update, [&] {
    Placement placement;
    for (const Need &need :
         homeOf(tables->graph, state, tables->configs[update]))
      placement.holdings.add({need.device, need.region, need.order, -1});
    return tables->internLayout(written.type, placement);
  });
}

/// What `known` has for a layout; made when first asked for.
template <class Make>
static NeedId needOf(std::vector<NeedId> &known, LayoutId layout, Make make) {
  constexpr NeedId unknown = -2;
  if (static_cast<size_t>(layout) >= known.size())
    known.resize(2 * static_cast<size_t>(layout) + 1, unknown);
  if (known[layout] == unknown)
    known[layout] = make();
  return known[layout];
}

NeedId SegmentTable::lossNeed(LayoutId loss) {
  return needOf(tables->losses, loss, [&] {
    const Tables::Layout &layout = tables->layouts[loss];
    TimeSink sink(tables->graph, tables->numDevices, tables->cost);
    return tables->internNeeds(
        lossNeeds(tables->placementOf(layout, sink), layout.type));
  });
}

NeedId SegmentTable::outputNeed(LayoutId output) {
  return needOf(tables->outputs, output, [&]() -> NeedId {
    const Tables::Layout &layout = tables->layouts[output];
    TimeSink sink(tables->graph, tables->numDevices, tables->cost);
    Placement where = tables->placementOf(layout, sink);
    if (where.isComplete(layout.type.shape))
      return -1;
    return tables->internNeeds(outputNeeds(where));
  });
}

const ReshardSegment &SegmentTable::store(LayoutId written, LayoutId home) {
  return lookUp(tables->stores, written, home,
                [&] { return tables->makeStore(written, home); });
}

const TimedTasks &SegmentTable::accumulation(LayoutId layout) {
  auto known = tables->accumulations.find(layout);
  if (known == tables->accumulations.end())
    known =
        tables->accumulations.emplace(layout, tables->makeAccumulation(layout))
            .first;
  return known->second;
}

const OpSegment *SegmentTable::findOp(OpId op, ConfigId config) const {
  return tables->ops.find(pairKey(tables->classes[op], config));
}

const ReshardSegment *SegmentTable::findReshard(LayoutId layout,
                                                NeedId need) const {
  return tables->reshards.find(pairKey(layout, need));
}

const StartSegment *SegmentTable::findStart(LayoutId layout,
                                            NeedId need) const {
  return tables->starts.find(pairKey(layout, need));
}

const ReshardSegment *SegmentTable::findStore(LayoutId written,
                                              LayoutId home) const {
  return tables->stores.find(pairKey(written, home));
}

size_t SegmentTable::numSegments() const {
  return tables->ops.size() + tables->turns.size() + tables->reshards.size() +
         tables->starts.size() + tables->sends.size() + tables->ownSums.size() +
         tables->stores.size();
}
