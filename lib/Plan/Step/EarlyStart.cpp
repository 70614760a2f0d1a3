//===- EarlyStart.cpp - collectives that run beside kernels ---------------===//

#include "EarlyStart.h"

using namespace ffc::plan;

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
