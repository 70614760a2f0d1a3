//===- Meta.cpp - what the emitted text says about the graph --------------===//

#include "Meta.h"

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
