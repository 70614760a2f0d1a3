//===- FlexFlowLayers.cpp - finds the layers of a graph -------------------===//

#include "FlexFlow/FlexFlowLayers.h"

#include "FlexFlow/FlexFlowCosts.h"
#include "Text/Text.h"

#include "ffc/Plan/SampleDims.h"

#include <algorithm>
#include <set>

using namespace ffc::plan;
using Kind = FlexFlowLayer::Kind;

/// Extents of an image in a batch.
static constexpr size_t kImageRank = 4;

FlexFlowLayers::FlexFlowLayers(const Graph &graph, FlexFlowModel &model)
    : graph(graph), model(model), sampleDims(plan::sampleDims(graph)),
      sources(graph.values.size()) {
  for (size_t value = 0; value < graph.values.size(); ++value)
    if (graph.values[value].kind == ValueKind::State) {
      sources[value].kind = Source::Kind::Parameter;
      sources[value].state = graph.values[value].state;
    }
}

bool FlexFlowLayers::find(std::string &error) {
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    visit(id);
  for (const Output &output : graph.outputs)
    if (const Source &source = sources[output.value];
        problem.empty() && source.kind == Source::Kind::Other)
      problem = source.problem;
  if (problem.empty() && model.layers_.empty())
    problem = "expected layers that FlexFlow's simulator has (Conv2D, Pool2D, "
              "Concat, Flat, LSTM, Linear, Embed), found none";
  error = problem;
  return problem.empty();
}

void FlexFlowLayers::visit(OpId id) {
  const Op &op = graph.op(id);
  if (op.role == OpRole::Loss)
    for (ValueId value : op.operands)
      if (value >= 0 && problem.empty() &&
          source(value).kind == Source::Kind::Other)
        problem = source(value).problem;
  if (op.role != OpRole::Forward)
    return;
  const Source found = sourceOf(id);
  for (ValueId result : op.results)
    if (result >= 0)
      sources[result] = found;
}

FlexFlowLayers::Source
FlexFlowLayers::other(OpId id, const std::string &expectation) const {
  const Op &op = graph.op(id);
  Source result;
  result.kind = Source::Kind::Other;
  result.problem = quoted(op.name) + " (" + op.type + "): " + expectation;
  return result;
}

FlexFlowLayers::Source FlexFlowLayers::sourceOf(OpId id) {
  const Op &op = graph.op(id);
  // Values that are made of inputs alone, or of parameters alone, are these.
  const Source *first = nullptr;
  bool readsLayers = false;
  for (ValueId value : op.operands)
    if (value >= 0) {
      const Source &read = source(value);
      if (read.kind == Source::Kind::Other)
        return read;
      if (!first || first->kind == Source::Kind::Parameter)
        first = &read;
      readsLayers |=
          read.kind == Source::Kind::Layer || read.kind == Source::Kind::Joined;
    }
  if (!first || first->kind == Source::Kind::Parameter)
    return first ? *first : Source();
  if (op.type == "conv2d")
    return convolution(id);
  if (op.type == "pool2d")
    return plain(id, Kind::Pool2D);
  if (op.type == "linear")
    return linear(id);
  if (op.type == "lstm")
    return lstm(id);
  if (op.type == "embedding")
    return embedding(id);
  if (op.type == "concat" && readsLayers)
    return concatenation(id);
  if (op.type == "flat" && shape(op.operands[0]).size() == kImageRank &&
      shape(op.results[0]).size() == 2)
    return plain(id, Kind::Flat);
  if (!readsLayers || isPartOfLayer(id) ||
      (op.type == "slice" && isBlock(op, *first)))
    return *first;
  return unknown(id);
}

FlexFlowLayers::Source FlexFlowLayers::unknown(OpId id) const {
  return other(id, "expected an operator that FlexFlow's simulator has "
                   "(Conv2D, Pool2D, Concat, Flat, LSTM, Linear, Embed) or "
                   "counts as part of one");
}

bool FlexFlowLayers::isPartOfLayer(OpId id) const {
  static const std::set<std::string> types = {
      "relu",      "leaky_relu", "sigmoid",   "tanh",    "elu",
      "gelu",      "gelu_tanh",  "clip",      "softmax", "dropout",
      "normalize", "flat",       "transpose", "cast"};
  const Op &op = graph.op(id);
  const auto reads =
      std::count_if(op.operands.begin(), op.operands.end(), [&](ValueId value) {
        return value >= 0 && source(value).kind != Source::Kind::Parameter;
      });
  // A bias, added apart.
  return reads == 1 && (types.count(op.type) || op.type == "add");
}

bool FlexFlowLayers::isBlock(const Op &slice, const Source &of) const {
  if (of.kind != Source::Kind::Layer ||
      model.layers_[of.layer].kind != Kind::Embed)
    return false;
  const FlexFlowLayer &layer = model.layers_[of.layer];
  const Shape &y = shape(slice.results[0]);
  return y.back() == layer.perSample.back() &&
         numElements(y) == kFlexFlowTimeSteps * layer.samples * y.back();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

FlexFlowLayer FlexFlowLayers::layer(OpId id, Kind kind, Shape perSample) const {
  FlexFlowLayer result;
  result.kind = kind;
  result.op = id;
  result.perSample = std::move(perSample);
  result.sampleDim = sampleDims[id];
  if (result.sampleDim >= 0)
    result.samples = graph.op(id).rules.dims[result.sampleDim].extent;
  return result;
}

/// Extents without the first.
static Shape perSampleOf(const Shape &shape) {
  return {shape.begin() + 1, shape.end()};
}

FlexFlowLayers::Source FlexFlowLayers::add(FlexFlowLayer layer,
                                           const std::vector<int> &operands) {
  for (int operand : operands) {
    const ValueId value = graph.op(layer.op).operands[operand];
    if (value < 0)
      continue;
    const Source &read = source(value);
    if (read.kind == Source::Kind::Joined)
      return other(read.joins, "expected channels of images, the only ones "
                               "that FlexFlow's simulator joins");
    if (read.kind == Source::Kind::Layer)
      layer.inputs.push_back(read.layer);
  }
  const int64_t samples =
      model.layers_.empty() ? layer.samples : model.layers_.front().samples;
  if (layer.samples != samples)
    return other(layer.op, "expected " + std::to_string(samples) +
                               " samples as in layers before it, found " +
                               std::to_string(layer.samples));
  const int numDevices = model.machine().numDevices();
  if (samples % numDevices != 0)
    return other(layer.op, "expected a multiple of " +
                               std::to_string(numDevices) +
                               " samples, the number of devices, found " +
                               std::to_string(samples));
  if (std::max(model.layers_.size(), layer.inputs.size()) == kMaxFlexFlowLayers)
    return other(layer.op, "expected at most " +
                               std::to_string(kMaxFlexFlowLayers) +
                               " layers, which FlexFlow's simulator has room "
                               "for");
  Source result;
  result.kind = Source::Kind::Layer;
  result.layer = static_cast<int>(model.layers_.size());
  model.layers_.push_back(std::move(layer));
  return result;
}

FlexFlowLayers::Source
FlexFlowLayers::addWithParameter(FlexFlowLayer layer,
                                 const std::vector<int> &operands,
                                 ValueId parameter, double elements) {
  const StateId state = source(parameter).state;
  const Source result = add(std::move(layer), operands);
  if (result.kind != Source::Kind::Layer)
    return result;
  const auto [at, isNew] =
      parameterOf.try_emplace(state, model.parameters_.size());
  if (isNew)
    model.parameters_.push_back(
        {{}, static_cast<float>(kBytesOfFloat * elements)});
  model.parameters_[at->second].layers.push_back(result.layer);
  return result;
}

/// Fills the times of a layer with `time(samples of a part, sample parts)`.
template <class F>
static void addTimes(FlexFlowLayer &layer, const FlexFlowMachine &machine,
                     F time) {
  for (int parts = 1; parts <= machine.numDevices(); parts *= 2)
    layer.times.push_back(time(layer.samples / parts, parts));
}

FlexFlowLayers::Source FlexFlowLayers::convolution(OpId id) {
  const Op &op = graph.op(id);
  const Shape &x = shape(op.operands[0]), &w = shape(op.operands[1]);
  if (!isParameter(op.operands[1]))
    return unknown(id);
  if (w[1] != x[1])
    return other(id, "expected one group, which is all that FlexFlow's "
                     "simulator has, found " +
                         std::to_string(x[1] / w[1]));
  FlexFlowLayer result =
      layer(id, Kind::Conv2D, perSampleOf(shape(op.results[0])));
  addTimes(result, model.machine(), [&](int64_t samples, int) {
    return timeOf(convKernels(samples, perSampleOf(x), w, result.perSample),
                  model.machine());
  });
  return addWithParameter(std::move(result), {0}, op.operands[1], elements(w));
}

FlexFlowLayers::Source FlexFlowLayers::plain(OpId id, Kind kind) {
  const Op &op = graph.op(id);
  FlexFlowLayer result = layer(id, kind, perSampleOf(shape(op.results[0])));
  addTimes(result, model.machine(), [&](int64_t samples, int) {
    return kind == Kind::Flat
               ? 0.0F
               : timeOf(poolKernels(samples, perSampleOf(shape(op.operands[0])),
                                    result.perSample),
                        model.machine());
  });
  return add(std::move(result), {0});
}

FlexFlowLayers::Source FlexFlowLayers::concatenation(OpId id) {
  const Op &op = graph.op(id);
  const Shape &x = shape(op.operands[0]), &y = shape(op.results[0]);
  const bool joinsChannels =
      y.size() == kImageRank && x[0] == y[0] && x[2] == y[2] && x[3] == y[3];
  if (!joinsChannels) {
    Source joined;
    joined.kind = Source::Kind::Joined;
    joined.joins = id;
    return joined;
  }
  FlexFlowLayer result = layer(id, Kind::Concat, perSampleOf(y));
  addTimes(result, model.machine(),
           [](int64_t, int parts) { return static_cast<float>(0.02 / parts); });
  std::vector<int> operands(op.operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    operands[i] = static_cast<int>(i);
  return add(std::move(result), operands);
}

FlexFlowLayers::Source FlexFlowLayers::embedding(OpId id) {
  const Op &op = graph.op(id);
  const Shape &table = shape(op.operands[0]);
  if (!isParameter(op.operands[0]))
    return unknown(id);
  FlexFlowLayer result = layer(id, Kind::Embed, {table.back()});
  const int64_t steps = numElements(shape(op.operands[1])) / result.samples;
  result.blocks =
      static_cast<int>(std::max<int64_t>(1, steps / kFlexFlowTimeSteps));
  addTimes(result, model.machine(), [&](int64_t, int parts) {
    const auto time =
        static_cast<float>(0.04F / static_cast<float>(parts) + 0.01);
    return static_cast<float>(result.blocks) * time;
  });
  return addWithParameter(std::move(result), {}, op.operands[0],
                          elements(table));
}

bool FlexFlowLayers::isLstmInput(const Op &op) const {
  bool isRead = false;
  for (Use use : graph.value(op.results[0]).uses) {
    const Op &reader = graph.op(use.op);
    if (reader.role != OpRole::Forward)
      continue;
    if (reader.type != "lstm" || use.operand != 0)
      return false;
    isRead = true;
  }
  return isRead;
}

FlexFlowLayers::Source FlexFlowLayers::linear(OpId id) {
  const Op &op = graph.op(id);
  if (!isParameter(op.operands[1]))
    return unknown(id);
  if (isLstmInput(op)) {
    lstmInputs[op.results[0]] = id;
    return source(op.operands[0]);
  }
  const Shape &y = shape(op.results[0]);
  const int64_t outputs = y.back(), rows = numElements(y) / outputs;
  FlexFlowLayer result = layer(id, Kind::Linear, {outputs});
  const int64_t steps = rows / result.samples;
  if (steps != 1 && steps != kFlexFlowTimeSteps)
    return other(id, "expected a row or " + std::to_string(kFlexFlowTimeSteps) +
                         " time steps for a sample, as FlexFlow's simulator "
                         "has, found " +
                         std::to_string(steps));
  const int numDevices = model.machine().numDevices();
  if (outputs < numDevices)
    return other(id, "expected a channel for each of " +
                         std::to_string(numDevices) + " devices, found " +
                         std::to_string(outputs));
  result.channelDim = op.rules.findDim("c");
  const Shape &w = shape(op.operands[1]);
  const int64_t inputs = numElements(w) / outputs;
  addTimes(result, model.machine(), [&](int64_t samples, int parts) {
    return timeOf(
        linearKernels(samples * steps, inputs, outputs / (numDevices / parts)),
        model.machine());
  });
  return addWithParameter(std::move(result), {0}, op.operands[1], elements(w));
}

FlexFlowLayers::Source FlexFlowLayers::lstm(OpId id) {
  const Op &op = graph.op(id);
  const auto product = lstmInputs.find(op.operands[0]);
  if (product == lstmInputs.end() || !isParameter(op.operands[1]))
    return unknown(id);
  const int64_t steps = shape(op.operands[0]).front();
  if (steps != kFlexFlowTimeSteps)
    return other(id, "expected " + std::to_string(kFlexFlowTimeSteps) +
                         " time steps in an operator, as FlexFlow's simulator "
                         "has, found " +
                         std::to_string(steps));
  const int64_t hidden = shape(op.operands[1]).back();
  const int64_t inputs = shape(graph.op(product->second).operands[0]).back();
  FlexFlowLayer result = layer(id, Kind::LSTM, {hidden});
  result.parts = {product->second};
  addTimes(result, model.machine(), [&](int64_t samples, int) {
    return timeOf(lstmKernels(samples, inputs, hidden), model.machine());
  });
  // Input, h and c; a matrix of four gates for the input and for h.
  constexpr int64_t kMatrices = 8;
  return addWithParameter(std::move(result), {0, 3, 4}, op.operands[1],
                          static_cast<double>(kMatrices * hidden * inputs));
}
