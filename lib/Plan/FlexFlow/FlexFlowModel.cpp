//===- FlexFlowModel.cpp - a step as FlexFlow's simulator saw it ----------===//

#include "ffc/Plan/FlexFlowModel.h"

#include "FlexFlow/FlexFlowLayers.h"
#include "Text/Text.h"

#include <numeric>

using namespace ffc::plan;

int ffc::plan::log2Exact(int64_t power) {
  int result = 0;
  while (power > 1) {
    power /= 2;
    ++result;
  }
  return result;
}

static bool isPowerOfTwo(int64_t number) {
  return number > 0 && (number & (number - 1)) == 0;
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

std::optional<FlexFlowMachine> FlexFlowMachine::of(const Topology &topology,
                                                   std::string &error) {
  const std::string what = "FlexFlow's simulator: '" + topology.name() + "': ";
  const int numDevices = topology.numDevices();
  FlexFlowMachine machine;
  machine.nodes = topology.device(numDevices - 1).node + 1;
  machine.perNode = numDevices / machine.nodes;
  if (!isPowerOfTwo(numDevices) || numDevices > kMaxFlexFlowDevices) {
    error = what + "expected a power of two of devices, at most " +
            std::to_string(kMaxFlexFlowDevices) + ", found " +
            std::to_string(numDevices);
    return std::nullopt;
  }
  for (DeviceId device = 0; device < numDevices; ++device)
    if (topology.device(device).node != device / machine.perNode ||
        topology.device(device).kind != topology.device(0).kind) {
      error =
          what +
          "expected nodes of equally many devices, all of one kind, found '" +
          topology.device(device).name + "' to be another";
      return std::nullopt;
    }
  for (DeviceId a = 0; a < numDevices; ++a)
    for (DeviceId b = 0; b < numDevices; ++b) {
      if (a == b)
        continue;
      const bool isWithin = a / machine.perNode == b / machine.perNode;
      const auto bandwidth =
          static_cast<float>(topology.routeCost(a, b).bandwidth * 1e-3);
      float &known = isWithin ? machine.withinNode : machine.betweenNodes;
      if (known != 0 && known != bandwidth) {
        error = what + "expected one bandwidth " +
                (isWithin ? "within nodes" : "between nodes") + ", found '" +
                topology.device(a).name + "' to '" + topology.device(b).name +
                "' to differ";
        return std::nullopt;
      }
      known = bandwidth;
    }
  const DeviceKind &kind = topology.kindOf(0);
  machine.flopsPerMs = kind.flopsPerSecond(Arithmetic::F32) * 1e-3;
  machine.bytesPerMs = kind.memoryBandwidth * 1e-3;
  machine.launchMs = static_cast<double>(kind.launch) * 1e-9;
  return machine;
}

//===----------------------------------------------------------------------===//
// The layers
//===----------------------------------------------------------------------===//

std::optional<FlexFlowModel> FlexFlowModel::of(const Graph &graph,
                                               const FlexFlowMachine &machine,
                                               std::string &error) {
  FlexFlowModel model;
  model.machine_ = machine;
  if (!FlexFlowLayers(graph, model).find(error)) {
    error = "FlexFlow's simulator: " + error;
    return std::nullopt;
  }
  return model;
}

float FlexFlowModel::time(int layer, const FlexFlowSplit &split) const {
  return layers_[layer].times[log2Exact(split.samples)];
}

FlexFlowStrategy FlexFlowModel::dataParallel() const {
  FlexFlowSplit split;
  split.samples = machine_.numDevices();
  split.devices.resize(split.samples);
  std::iota(split.devices.begin(), split.devices.end(), 0);
  return FlexFlowStrategy(layers_.size(), split);
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

/// Reads the configuration of one layer.
static std::optional<FlexFlowSplit>
splitOf(const FlexFlowLayer &layer, const Op &op, const Configuration &config,
        int numDevices, std::string &error) {
  FlexFlowSplit split;
  bool isLegal = !config.again;
  for (const GridAxis &axis : config.axes) {
    const bool ofSamples = axis.dim == layer.sampleDim;
    const bool ofChannels = layer.isLinear() && axis.dim == layer.channelDim;
    isLegal &= axis.degree == 1 || ofSamples || ofChannels;
    isLegal &= axis.shares.empty();
    isLegal &= isPowerOfTwo(axis.degree) && axis.degree <= numDevices;
    if (isLegal && ofSamples)
      split.samples = static_cast<int>(axis.degree);
    else if (isLegal && ofChannels)
      split.channels = static_cast<int>(axis.degree);
  }
  if (!isLegal || split.numParts() > numDevices) {
    error = "FlexFlow's simulator: " + quoted(op.name) + " (" + op.type +
            "): expected a split by samples" +
            (layer.isLinear() ? " and channels" : "") +
            " in powers of two, into at most as many parts as there are "
            "devices, found " +
            config.str(op.rules);
    return std::nullopt;
  }
  // As many parts of a linear layer as devices, by the channels.
  const int further = layer.isLinear() ? numDevices / split.numParts() : 1;
  split.devices.resize(static_cast<size_t>(split.numParts()) * further);
  for (int64_t point = 0; point < config.numPoints(); ++point) {
    const std::vector<int64_t> at = config.coordinates(point);
    int64_t sample = 0, channel = 0;
    for (size_t i = 0; i < config.axes.size(); ++i)
      (config.axes[i].dim == layer.sampleDim ? sample : channel) += at[i];
    for (int i = 0; i < further; ++i)
      split.devices[(sample * split.channels + channel) * further + i] =
          config.devices[point];
  }
  split.channels *= further;
  return split;
}

std::optional<FlexFlowStrategy>
FlexFlowModel::strategyOf(const Graph &graph, const Strategy &strategy,
                          std::string &error) const {
  FlexFlowStrategy result;
  for (const FlexFlowLayer &layer : layers_) {
    auto split = splitOf(layer, graph.op(layer.op), strategy[layer.op],
                         machine_.numDevices(), error);
    if (!split)
      return std::nullopt;
    result.push_back(std::move(*split));
  }
  return result;
}

std::vector<std::optional<Configuration>>
FlexFlowModel::configurations(const Graph &graph,
                              const FlexFlowStrategy &strategy) const {
  std::vector<std::optional<Configuration>> result(graph.ops.size());
  for (size_t i = 0; i < layers_.size(); ++i) {
    const FlexFlowLayer &layer = layers_[i];
    const FlexFlowSplit &split = strategy[i];
    Configuration config;
    if (split.samples > 1)
      config.axes.push_back({layer.sampleDim, split.samples});
    if (split.channels > 1)
      config.axes.push_back({layer.channelDim, split.channels});
    config.devices = split.devices;
    result[layer.op] = config;
    for (OpId part : layer.parts) {
      Configuration carried = carryOverByName(graph, layer.op, config, part);
      result[part] = std::move(carried);
    }
  }
  return result;
}
