//===- LayerTasks.h - plans as tasks of FlexNet's layers --------*- C++ -*-===//
//
// What FlexNet (TopoOpt, NSDI'23) would write of a strategy that it measured: a
// forward and a backward task for every layer and server, transfers where a
// server does not hold what it reads, and all-reduces of weights. Times are
// FlexNet's measurements, as they are.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_LAYERTASKS_H
#define FFC_NETWORK_LAYERTASKS_H

#include "ffc/Network/TaskGraphFile.h"
#include "ffc/Plan/Configuration.h"
#include "ffc/Plan/FlexNet.h"
#include "ffc/Plan/Profile.h"
#include "ffc/Plan/Topology.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ffc::network {

/// What a server does alone before and after it takes part in an all-reduce.
struct ServerInside {
  /// Bytes per second of a GPU to others of its server; 0: the topology's.
  double bandwidth = 0;
  /// For an all-reduce of S bytes k GPUs of a server take 2 (k - 1) / k S /
  /// bandwidth, a ring. FlexNet has 2 S / k / bandwidth, too little by k - 1,
  /// as all of its published figures do.
  bool asFlexNet = false;

  /// The time in milliseconds.
  double allReduce(int gpus, int64_t bytes) const;
};

/// Bytes per second between two devices of one node; 0 if no node has two.
double bandwidthInside(const plan::Topology &topology);

struct ServerTasks {
  TaskGraph graph;
  std::vector<FileOperator> operators;
  /// What a reader should know of the result, a line each.
  std::vector<std::string> notes;
};

/// Writes the tasks of any number of strategies of a graph.
class LayerSteps {
public:
  /// The nodes of the topology are servers. `profile` is a file of FlexNet's
  /// (Profile::flexNet), of as many devices as there are servers, or GPUs. On
  /// failure (an operator that FlexNet does not have, another batch or number
  /// of devices) returns nothing and sets `error`. All that is given has to
  /// live as long as the result.
  static std::optional<LayerSteps>
  of(const plan::Graph &graph, const plan::Topology &topology,
     const std::shared_ptr<const plan::Profile> &profile,
     const ServerInside &inside, std::string &error);

  /// The tasks, without notes. On failure (a split that FlexNet cannot say, or
  /// that was not measured) returns nothing and sets `error`.
  std::optional<ServerTasks> tasksOf(const plan::Strategy &strategy,
                                     std::string &error) const;

  const plan::FlexNetLayers &layers() const { return layers_; }
  const plan::Graph &graph() const { return *graph_; }
  const plan::Topology &topology() const { return *topology_; }
  const plan::FlexNetMeasures &measures() const { return *profile->flexNet(); }

private:
  LayerSteps() = default;

  const plan::Graph *graph_ = nullptr;
  const plan::Topology *topology_ = nullptr;
  std::shared_ptr<const plan::Profile> profile;
  ServerInside inside;
  plan::FlexNetLayers layers_;
};

/// The same for one strategy, with notes on what to be wary of in the
/// measurements.
std::optional<ServerTasks>
layerTasks(const plan::Graph &graph, const plan::Strategy &strategy,
           const plan::Topology &topology,
           const std::shared_ptr<const plan::Profile> &profile,
           const ServerInside &inside, std::string &error);

} // namespace ffc::network

#endif // FFC_NETWORK_LAYERTASKS_H
