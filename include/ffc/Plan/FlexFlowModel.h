//===- FlexFlowModel.h - a step as FlexFlow's simulator saw it --*- C++ -*-===//
//
// The other cost model: that of FlexFlow's standalone program
// scripts/simulator.cc ("execution optimizer", April to July 2018), by which
// its search and ours can be compared (docs/flexflow-simulator.md). This file
// has its layers, its machine and what a layer takes; FlexFlowTimer.h has the
// time of a step.
//
// All times are milliseconds in single precision, as there: its ties, and so
// its figures, depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_FLEXFLOWMODEL_H
#define FFC_PLAN_FLEXFLOWMODEL_H

#include "ffc/Plan/Configuration.h"
#include "ffc/Plan/Topology.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

/// The most devices and operators that it has room for.
constexpr int kMaxFlexFlowDevices = 64;
constexpr int kMaxFlexFlowLayers = 1000;
/// Time steps in an operator of it; every byte counts so often in transfers, of
/// whatever operator.
constexpr int64_t kFlexFlowTimeSteps = 8;

/// Nodes of equally many devices of one kind. Transfers take bytes over one of
/// two bandwidths, without latency, whatever else is on the way.
struct FlexFlowMachine {
  int nodes = 1, perNode = 1;
  float withinNode = 0, betweenNodes = 0; ///< bytes per ms
  /// Of the roofline that stands for its measured kernels.
  double flopsPerMs = 0, bytesPerMs = 0, launchMs = 0;

  int numDevices() const { return nodes * perNode; }

  /// `topology` as such a machine. Nothing, with a message in `error`, unless
  /// it has a power of two of devices, at most kMaxFlexFlowDevices, all of one
  /// kind, numbered node by node, equally many in each, and one bandwidth
  /// within nodes and one between them.
  static std::optional<FlexFlowMachine> of(const Topology &topology,
                                           std::string &error);
};

/// How a layer is split and where its parts are: samples, and channels of
/// `Linear`, in powers of two. Channels are the faster ones among the devices.
/// A linear layer has as many parts as the machine has devices.
struct FlexFlowSplit {
  int samples = 1, channels = 1;
  std::vector<DeviceId> devices;

  int numParts() const { return samples * channels; }
  bool operator==(const FlexFlowSplit &o) const {
    return samples == o.samples && channels == o.channels &&
           devices == o.devices;
  }
};

/// A split for each layer.
using FlexFlowStrategy = std::vector<FlexFlowSplit>;

/// One operator of the simulator.
struct FlexFlowLayer {
  enum class Kind { Conv2D, Pool2D, Concat, Flat, LSTM, Linear, Embed };

  Kind kind = Kind::Flat;
  OpId op = -1;
  /// Operators that are computed with it: an LSTM's product with its input.
  std::vector<OpId> parts;
  /// The layers whose results it reads, one for each tensor that is read, in
  /// its order; what is data counts nothing.
  std::vector<int> inputs;
  int64_t samples = 1;
  Shape perSample; ///< its result's other extents, of one time step
  int sampleDim = -1, channelDim = -1; ///< iteration dimensions; -1: none
  /// Operators of the simulator that it stands for, in the same places: those
  /// of an embedding of many time steps.
  int blocks = 1;
  /// Milliseconds of a part, forward and backward, by the logarithm of the
  /// number of sample parts.
  std::vector<float> times;

  bool isLinear() const { return kind == Kind::Linear; }
};

/// Layers that have one parameter, which devices synchronise after the step.
struct FlexFlowParameter {
  std::vector<int> layers; ///< ascending
  float bytes = 0;
};

class FlexFlowModel {
public:
  /// The layers of a graph's forward pass. Activations, dropout, normalisation
  /// of batches, softmax and changes of shape are part of the layer before
  /// them. On failure returns nothing and sets `error`, which names the
  /// operator that the simulator has no counterpart of.
  static std::optional<FlexFlowModel>
  of(const Graph &graph, const FlexFlowMachine &machine, std::string &error);

  const FlexFlowMachine &machine() const { return machine_; }
  const std::vector<FlexFlowLayer> &layers() const { return layers_; }
  /// In the order of their first layers.
  const std::vector<FlexFlowParameter> &parameters() const {
    return parameters_;
  }

  /// Of one part of `layer`.
  float time(int layer, const FlexFlowSplit &split) const;

  /// Samples over all devices in their order.
  FlexFlowStrategy dataParallel() const;

  /// What `strategy`, of the graph's operators, says of the layers. Linear
  /// layers of fewer parts than devices are split further along their channels,
  /// on the same devices. Nothing, with a message in `error`, if it says what
  /// the simulator cannot.
  std::optional<FlexFlowStrategy> strategyOf(const Graph &graph,
                                             const Strategy &strategy,
                                             std::string &error) const;
  /// The same the other way round; nothing for operators that are no layers.
  std::vector<std::optional<Configuration>>
  configurations(const Graph &graph, const FlexFlowStrategy &strategy) const;

private:
  friend class FlexFlowLayers;

  FlexFlowMachine machine_;
  std::vector<FlexFlowLayer> layers_;
  std::vector<FlexFlowParameter> parameters_;
};

/// The base-2 logarithm of a power of two.
int log2Exact(int64_t power);

} // namespace ffc::plan

#endif // FFC_PLAN_FLEXFLOWMODEL_H
