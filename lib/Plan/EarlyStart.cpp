//===- EarlyStart.cpp - collectives that run beside kernels ---------------===//

#include "EarlyStart.h"

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// What starts when
//===----------------------------------------------------------------------===//

EarlyStarts::EarlyStarts(const Graph &graph) : starts(graph.values.size()) {
  const auto end = static_cast<OpId>(graph.ops.size());
  for (OpId op = 0; op < end; ++op)
    if (graph.op(op).role != OpRole::Update)
      lastOp = op;
  std::vector<ValueId> states;
  for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
    const Value &value = graph.value(id);
    const bool isUpdated = value.kind == ValueKind::State &&
                           graph.states[value.state].written >= 0;
    if (value.uses.empty() || id == graph.loss ||
        (value.producer < 0 && !isUpdated))
      continue;
    const OpId after = std::max(value.producer, 0), reader = firstReader(value);
    if (reader <= after)
      continue;
    // Nothing starts in one pass and ends in another.
    if (isUpdated && reader >= graph.passEnd && graph.passEnd >= 0)
      continue;
    starts[id].after = after;
    if (isUpdated) {
      starts[id].kind = Kind::State;
      states.push_back(id);
    } else if (after <= lastOp && reader > lastOp) {
      starts[id].kind = Kind::Gradient;
      if (graph.passEnd >= 0)
        starts[id].after = lastOp;
    }
  }
  std::stable_sort(states.begin(), states.end(), [&](ValueId a, ValueId b) {
    return firstReader(graph.value(a)) < firstReader(graph.value(b));
  });
  std::vector<ValueId> late; // what starts when the passes are over
  for (OpId op = 0; op < end; ++op) {
    Place place{op, {}};
    for (ValueId result : graph.op(op).results)
      if (result >= 0 && starts[result].after >= 0)
        (starts[result].after == op ? place.values : late).push_back(result);
    if (op == lastOp)
      place.values.insert(place.values.end(), late.begin(), late.end());
    if (op == 0)
      place.values.insert(place.values.end(), states.begin(), states.end());
    if (!place.values.empty() || op == lastOp)
      all.push_back(std::move(place));
  }
}

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

std::optional<PlannedReshard>
ffc::plan::planEarly(TaskSink &sink, const CostModel &cost, Placement &where,
                     ValueId value, const TensorType &type,
                     const std::string &name, const std::vector<Need> &needed) {
  PlannedReshard planned =
      planReshardTo(sink, cost, where, value, type, name, needed);
  if (planned.plan.collectives.empty())
    return std::nullopt;
  // What is left is planned when it is needed.
  planned.plan.transfers.clear();
  return planned;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

BatchShape ffc::plan::shapeOf(const ReshardPlan &plan, const Placement &where,
                              const TensorType &type) {
  BatchShape shape{type.type, {}};
  for (const CollectiveStep &step : plan.collectives)
    shape.all.push_back({step.kind,
                         step.partial < 0
                             ? Reduction::None
                             : where.groups[step.partial].reduction,
                         step.members});
  return shape;
}

BatchBytes ffc::plan::bytesOf(const ReshardPlan &plan) {
  BatchBytes bytes;
  for (const CollectiveStep &step : plan.collectives)
    bytes.push_back(step.bytes);
  return bytes;
}

BatchTimes::BatchTimes(const BatchShape &shape, const CostModel &cost) {
  std::vector<std::vector<DeviceId>> groups;
  for (const BatchShape::Collective &collective : shape.all) {
    kinds.push_back(collective.kind);
    groups.push_back(collective.members);
  }
  paths = cost.paths(groups);
  for (size_t c = 0; c < kinds.size(); ++c)
    latencies += of(c, 0);
}

/// Of the time of a full batch.
static constexpr Picoseconds kLatencies = 5;

bool BatchTimes::isFull(const BatchBytes &bytes) const {
  Picoseconds time = 0;
  for (size_t c = 0; c < bytes.size(); ++c)
    time += of(c, bytes[c]);
  return time / kLatencies >= latencies;
}
