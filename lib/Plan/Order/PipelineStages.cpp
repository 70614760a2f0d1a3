//===- PipelineStages.cpp - which operators work on micro-batches ---------===//

#include "PipelineStages.h"

#include "ffc/Plan/SampleDims.h"

#include <algorithm>
#include <map>

using namespace ffc::plan;

PipelineStages::PipelineStages(const Graph &graph, const Strategy &strategy,
                               int microBatches, bool splitsWeights)
    : graph(graph), strategy(strategy), microBatches(microBatches),
      samples(sampleDims(graph)), ops(graph.ops.size()),
      values(graph.values.size()) {
  for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op) {
    noteInputs(op);
    place(op);
    noteResults(op);
    if (ops[op].place == Place::Pipeline)
      addToStage(op);
  }
  if (splitsWeights)
    splitWeights();
  countOperations();
}

//===----------------------------------------------------------------------===//
// Who works on parts
//===----------------------------------------------------------------------===//

/// The dimension that is the slowest of what a tensor's dimension is made of,
/// if tiles in it are consecutive parts of the tensor; else -1.
static int slowestDim(const DimMap &map) {
  if (map.dims.empty() || map.kind == DimMap::Kind::Full ||
      map.kind == DimMap::Kind::Inverse ||
      (map.kind == DimMap::Kind::Window && map.stride != 1))
    return -1;
  return map.dims.front();
}

/// The dimension of a tensor that tiles in `dim` divide into consecutive parts;
/// -1 if there is none.
static int axisOf(const Access &access, int dim) {
  for (size_t axis = 0; axis < access.dims.size(); ++axis)
    if (slowestDim(access.dims[axis]) == dim)
      return static_cast<int>(axis);
  return -1;
}

/// Gradients have the samples where their operands have them.
int PipelineStages::findDim(OpId id) const {
  if (samples[id] >= 0)
    return samples[id];
  const Op &op = graph.op(id);
  for (const Phase &phase : scheduleFor(op.rules, strategy[id]).phases)
    for (const SlotRead &read : phase.reads) {
      const ValueId value = graph.slotValue(id, read.slot);
      if (value < 0 || values[value].axis < 0)
        continue;
      const int dim = slowestDim(read.access.dims[values[value].axis]);
      if (dim >= 0)
        return dim;
    }
  return -1;
}

/// Inputs have them where the first operator that reads them says.
void PipelineStages::noteInputs(OpId id) {
  const Op &op = graph.op(id);
  if (samples[id] < 0)
    return;
  for (const Phase &phase : scheduleFor(op.rules, strategy[id]).phases)
    for (const SlotRead &read : phase.reads)
      if (const ValueId value = graph.slotValue(id, read.slot);
          value >= 0 && graph.value(value).kind == ValueKind::Input &&
          values[value].axis < 0)
        values[value].axis = axisOf(read.access, samples[id]);
}

int PipelineStages::partOf(OpId op, int dim, int64_t point) const {
  const Configuration &config = strategy[op];
  const std::vector<int64_t> at = config.coordinates(point);
  for (size_t axis = 0; axis < config.axes.size(); ++axis)
    if (config.axes[axis].dim == dim)
      return static_cast<int>(at[axis] * microBatches /
                              config.axes[axis].degree);
  return 0;
}

/// Calls visit(point) for grid points that have among them every part of the
/// axis of a tensor that `access` describes, for every block of `dim`: what
/// only other dimensions tell apart comes once.
template <class Visitor>
static void eachBlock(const Configuration &config, const Access &access,
                      int axis, int dim, Visitor visit) {
  std::vector<bool> counts(config.axes.size());
  auto matters = [&](int d) {
    if (d == dim ||
        std::find(access.onlyAtStart.begin(), access.onlyAtStart.end(), d) !=
            access.onlyAtStart.end())
      return true;
    for (size_t a = 0; a < access.dims.size(); ++a) {
      const DimMap &map = access.dims[a];
      // Parts of windows may lie outside.
      if (map.involves(d) &&
          (static_cast<int>(a) == axis || map.kind == DimMap::Kind::Window ||
           map.kind == DimMap::Kind::Inverse))
        return true;
    }
    return false;
  };
  for (size_t a = 0; a < config.axes.size(); ++a)
    counts[a] = config.axes[a].dim != kReplica && matters(config.axes[a].dim);
  std::vector<int64_t> at(config.axes.size());
  while (true) {
    int64_t point = 0;
    for (size_t a = 0; a < at.size(); ++a)
      point = point * config.axes[a].degree + at[a];
    visit(point);
    size_t a = at.size();
    while (a > 0 &&
           (!counts[a - 1] || ++at[a - 1] == config.axes[a - 1].degree))
      at[--a] = 0;
    if (a == 0)
      return;
  }
}

static int64_t endOf(const Region &region, int axis) {
  int64_t end = 0;
  for (Interval interval : region.dim(axis))
    end = std::max(end, interval.hi);
  return end;
}

/// Is of what the operator reads for a micro-batch all made by then?
bool PipelineStages::arrivesInTime(OpId id, int dim,
                                   const SlotRead &read) const {
  const ValueId value = graph.slotValue(id, read.slot);
  if (value < 0 || values[value].kind != Arrival::Kind::Parts)
    return true;
  const Op &op = graph.op(id);
  const Configuration &config = strategy[id];
  const Arrival &arrival = values[value];
  bool isInTime = true;
  eachBlock(config, read.access, arrival.axis, dim, [&](int64_t point) {
    const Region region =
        regionOf(read.access, op.rules.dims, config.tileOf(op.rules, point),
                 graph.value(value).type.shape);
    isInTime &= region.empty() || endOf(region, arrival.axis) <=
                                      arrival.ends[partOf(id, dim, point)];
  });
  return isInTime;
}

bool PipelineStages::canWorkOnParts(OpId id, int dim) const {
  const Op &op = graph.op(id);
  const Configuration &config = strategy[id];
  if (dim < 0 || op.role == OpRole::Update ||
      config.degreeOf(dim) % microBatches != 0)
    return false;
  const std::vector<Phase> &phases = scheduleFor(op.rules, config).phases;
  for (const Phase &phase : phases) {
    for (const SlotRead &read : phase.reads)
      if (!arrivesInTime(id, dim, read))
        return false;
    // A later phase would have to wait for the sums of all parts.
    if (phases.size() > 1)
      for (const SlotWrite &write : phase.writes)
        if (write.isPartialAlong(dim))
          return false;
  }
  return true;
}

void PipelineStages::place(OpId id) {
  const Op &op = graph.op(id);
  OpPlace &place = ops[id];
  bool readsParts = false, readsLate = op.role == OpRole::Update;
  for (ValueId value : op.operands) {
    if (value < 0)
      continue;
    readsParts |= values[value].kind == Arrival::Kind::Parts;
    readsLate |= values[value].kind == Arrival::Kind::After;
  }
  const int dim = findDim(id);
  if (!readsLate && canWorkOnParts(id, dim)) {
    place.place = Place::Pipeline;
    place.dim = dim;
  } else if (readsParts || readsLate) {
    place.place = Place::After;
  }
}

//===----------------------------------------------------------------------===//
// When results are there
//===----------------------------------------------------------------------===//

void PipelineStages::noteParts(OpId id, const SlotWrite &write) {
  const ValueId value = graph.slotValue(id, write.slot);
  if (value < 0)
    return;
  const Op &op = graph.op(id);
  const Configuration &config = strategy[id];
  const int dim = ops[id].dim;
  Arrival &arrival = values[value];
  arrival = {Arrival::Kind::After, -1, {}};
  if (write.isPartialAlong(dim))
    return;
  arrival.axis = axisOf(write.access, dim);
  if (arrival.axis < 0)
    return;
  arrival.kind = Arrival::Kind::Parts;
  arrival.ends.assign(microBatches, 0);
  eachBlock(config, write.access, arrival.axis, dim, [&](int64_t point) {
    const Region region =
        regionOf(write.access, op.rules.dims, config.tileOf(op.rules, point),
                 graph.value(value).type.shape);
    int64_t &end = arrival.ends[partOf(id, dim, point)];
    if (!region.empty())
      end = std::max(end, endOf(region, arrival.axis));
  });
  for (int part = 1; part < microBatches; ++part)
    arrival.ends[part] = std::max(arrival.ends[part], arrival.ends[part - 1]);
}

void PipelineStages::noteResults(OpId id) {
  const Op &op = graph.op(id);
  if (ops[id].place == Place::Pipeline) {
    for (const Phase &phase : scheduleFor(op.rules, strategy[id]).phases)
      for (const SlotWrite &write : phase.writes)
        noteParts(id, write);
    return;
  }
  if (ops[id].place == Place::After)
    for (ValueId result : op.results)
      if (result >= 0)
        values[result].kind = Arrival::Kind::After;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

static std::vector<DeviceId> distinctDevices(const Configuration &config) {
  std::vector<DeviceId> devices = config.devices;
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

/// Forward passes go through the stages upwards and backward ones downwards,
/// whatever joins them across.
int PipelineStages::stageOf(OpId id) {
  const Op &op = graph.op(id);
  if (!ops[id].isBackward) {
    std::vector<DeviceId> devices = distinctDevices(strategy[id]);
    if (stages.empty() || stages.back().devices != devices) {
      stages.emplace_back();
      stages.back().devices = std::move(devices);
    }
    return numStages() - 1;
  }
  int stage = op.owner >= 0 && ops[op.owner].stage >= 0 ? ops[op.owner].stage
                                                        : numStages() - 1;
  for (ValueId value : op.operands)
    if (value >= 0 && graph.value(value).producer >= 0) {
      const OpPlace &producer = ops[graph.value(value).producer];
      if (producer.isBackward && producer.stage >= 0)
        stage = std::min(stage, producer.stage);
    }
  return stage;
}

void PipelineStages::addToStage(OpId id) {
  OpPlace &place = ops[id];
  place.isBackward = graph.op(id).role == OpRole::Gradient;
  place.stage = stageOf(id);
  stages[place.stage].passes[place.isBackward].ops.push_back(id);
}

/// Other stages wait for what they read, and for what that is made of.
void PipelineStages::splitWeights() {
  std::vector<bool> isWaitedFor(graph.ops.size());
  for (auto id = static_cast<OpId>(graph.ops.size()); id-- > 0;) {
    const OpPlace &place = ops[id];
    if (place.place != Place::Pipeline || !place.isBackward)
      continue;
    for (ValueId result : graph.op(id).results)
      if (result >= 0)
        for (Use use : graph.value(result).uses) {
          const OpPlace &reader = ops[use.op];
          if (reader.place == Place::Pipeline &&
              (reader.stage != place.stage || isWaitedFor[use.op]))
            isWaitedFor[id] = true;
        }
  }
  for (Stage &stage : stages) {
    std::vector<OpId>
        &backward = stage.passes[static_cast<int>(PassKind::Backward)].ops,
        &weights = stage.passes[static_cast<int>(PassKind::Weights)].ops;
    std::vector<OpId> all = std::move(backward);
    backward.clear();
    for (OpId id : all)
      (isWaitedFor[id] ? backward : weights).push_back(id);
  }
}

/// Do all blocks have the same extents?
static bool areEven(const OpRules &rules, const Configuration &config) {
  return std::all_of(
      config.axes.begin(), config.axes.end(), [&](const GridAxis &axis) {
        return axis.dim == kReplica ||
               rules.dims[axis.dim].extent %
                       (axis.degree * rules.dims[axis.dim].granularity) ==
                   0;
      });
}

void PipelineStages::countOperations() {
  for (Stage &stage : stages)
    for (auto &pass : stage.passes) {
      std::map<DeviceId, double> byDevice;
      for (OpId id : pass.ops) {
        const Op &op = graph.op(id);
        const Configuration &config = strategy[id];
        const bool even = areEven(op.rules, config);
        for (const Phase &phase : scheduleFor(op.rules, config).phases) {
          double flops = flopsOf(phase, config.tileOf(op.rules, 0));
          for (int64_t point = 0; point < config.numPoints(); ++point) {
            if (!even)
              flops = flopsOf(phase, config.tileOf(op.rules, point));
            byDevice[config.devices[point]] += flops;
          }
        }
      }
      for (const auto &[device, flops] : byDevice)
        pass.operations = std::max(pass.operations, flops / microBatches);
    }
}
