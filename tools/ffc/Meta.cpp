//===- Meta.cpp - what the emitted text says about the graph --------------===//

#include "Meta.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::plan;
using codegen::Direction;

/// "8x64x27x27", "scalar".
static std::string shapeText(const Shape &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

static std::string shapesText(const Graph &graph,
                              const std::vector<ValueId> &values) {
  std::string text;
  for (ValueId value : values)
    if (value >= 0)
      text +=
          (text.empty() ? "" : ", ") + shapeText(graph.value(value).type.shape);
  return text;
}

double ffc::flopsOf(const Op &op, const Configuration &config) {
  double flops = 0;
  for (const Phase &phase : scheduleFor(op.rules, config).phases)
    for (int64_t point = 0; point < config.numPoints(); ++point)
      flops += plan::flopsOf(phase, config.tileOf(op.rules, point));
  return flops;
}

static Direction directionOf(OpRole role) {
  switch (role) {
  case OpRole::Forward:
  case OpRole::Loss:
    return Direction::Forward;
  case OpRole::Gradient:
    return Direction::Backward;
  case OpRole::Update:
    return Direction::Update;
  }
  return Direction::Forward;
}

/// What the integers of an input lie below, by the least that any reader says;
/// 0: nothing.
static int64_t boundOf(const Graph &graph, const Value &input) {
  int64_t bound = 0;
  for (Use use : input.uses)
    for (const Schedule &schedule : graph.op(use.op).rules.schedules)
      for (const Phase &phase : schedule.phases)
        for (const SlotRead &read : phase.reads)
          if (read.slot == use.operand && read.below > 0)
            bound = bound ? std::min(bound, read.below) : read.below;
  return bound;
}

/// What an operator is split by: "n", "h w", "copies"; empty: it is whole.
static std::string splitOf(const OpRules &rules, const Configuration &config) {
  std::string text;
  for (const GridAxis &axis : config.axes)
    if (axis.degree > 1)
      text += (text.empty() ? "" : " ") + (axis.dim == kReplica
                                               ? std::string("copies")
                                               : rules.dims[axis.dim].name);
  return text;
}

std::string ffc::describeStrategy(const std::string &origin, const Graph &graph,
                                  const Strategy &strategy,
                                  const PipelineSchedule &schedule) {
  constexpr size_t kShown = 4;
  std::vector<std::pair<std::string, int>> counts;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (graph.ops[i].role != OpRole::Forward)
      continue;
    const std::string split = splitOf(graph.ops[i].rules, strategy[i]);
    auto known = llvm::find_if(
        counts, [&](const auto &count) { return count.first == split; });
    if (known == counts.end())
      known = counts.insert(counts.end(), {split, 0});
    ++known->second;
  }
  llvm::stable_sort(
      counts, [](const auto &a, const auto &b) { return a.second > b.second; });
  std::string text = origin + ":";
  int more = 0;
  for (auto [i, count] : llvm::enumerate(counts)) {
    if (i >= kShown) {
      more += count.second;
      continue;
    }
    text += (i ? ", " : " ") + std::to_string(count.second) +
            (count.first.empty() ? " whole" : " by " + count.first);
  }
  if (more > 0)
    text += ", " + std::to_string(more) + " by others";
  if (schedule.isPipeline())
    text += "; " + std::to_string(schedule.microBatches) + " micro-batches, " +
            schedule.str();
  return text;
}

/// The arithmetic of products.
static Arithmetic arithmeticOf(Precision precision) {
  switch (precision) {
  case Precision::F32:
    return Arithmetic::F32;
  case Precision::F64:
    return Arithmetic::F64;
  case Precision::TF32:
    return Arithmetic::TF32;
  case Precision::BF16:
    return Arithmetic::BF16;
  case Precision::FP16:
    return Arithmetic::F16;
  }
  return Arithmetic::F32;
}

void ffc::describeRanks(codegen::ProgramMeta &meta, const Options &options,
                        const Topology &topology,
                        const std::vector<double> &busySeconds) {
  for (DeviceId id = 0; id < topology.numDevices(); ++id) {
    meta.peakFlops +=
        topology.kindOf(id).flopsPerSecond(arithmeticOf(options.precision));
    meta.ranks.push_back({busySeconds[id], topology.device(id).node});
  }
}

codegen::ProgramMeta ffc::describeProgram(const Options &options,
                                          const Graph &graph,
                                          const Strategy &strategy) {
  codegen::ProgramMeta meta;
  meta.model = llvm::sys::path::filename(options.model).str();
  meta.version = FFC_VERSION;
  meta.training = options.training;
  meta.learningRate =
      options.learningRate.value_or(options.optimizer.info().learningRate);
  meta.weightDecay = options.weightDecay;
  meta.clipValue = options.clipValue;
  meta.microBatches = graph.microBatches;
  meta.tf32 = options.precision == Precision::TF32;
  meta.switchesAdd = options.collectives.switchesAdd;
  meta.inF64 = options.precision == Precision::F64;

  for (const Value &value : graph.values) {
    if (value.kind != ValueKind::Input)
      continue;
    // Data inputs come first; the batch is the first one's.
    if (meta.inputs.empty() && !value.type.shape.empty())
      meta.batch = value.type.shape.front();
    bool isTarget = options.training && value.name == "target";
    meta.inputs.push_back(
        {value.name, value.type, isTarget, boundOf(graph, value)});
  }
  // The runtime keeps the losses of all steps itself.
  for (const Output &output : graph.outputs)
    if (output.name != "loss")
      meta.outputs.push_back({output.name, graph.value(output.value).type});

  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op &op = graph.ops[i];
    codegen::OpMeta entry;
    entry.layer = op.owner >= 0 ? graph.op(op.owner).name : op.name;
    entry.direction = directionOf(op.role);
    entry.type = op.type;
    entry.shapes = shapesText(graph, op.operands);
    if (std::string results = shapesText(graph, op.results); !results.empty())
      entry.shapes += " -> " + results;
    entry.strategy = strategy[i].str(op.rules);
    entry.flops = flopsOf(op, strategy[i]);
    meta.ops[op.name] = entry;
  }
  return meta;
}
