//===- FlexNet.h - measurements of FlexNet ----------------------*- C++ -*-===//
//
// FlexNet's files (measure_*.json) tell operators apart by their structure, and
// times by how the operator is split. Which kernels they measured follows from
// a graph only.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_FLEXNET_H
#define FFC_PLAN_FLEXNET_H

#include "ffc/Plan/Configuration.h"
#include "ffc/Plan/Profile.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

/// Of a file of FlexNet's: the profile of the kernels that the measured
/// operators have in `graph`. Any other profile itself. On failure returns null
/// and sets `error`: another batch, or another number of devices. A file of as
/// many devices as the topology has nodes is of servers, whose GPUs divide the
/// samples of a part, but for embeddings, which are whole on one.
std::shared_ptr<const Profile>
profileForGraph(const std::shared_ptr<const Profile> &profile,
                const Graph &graph, const Topology &topology,
                std::string &error);

class CostModel;

/// The text of such a file: every layer of `graph` in 1, 2, 4, ... parts by
/// samples, up to the number of nodes, with what `cost` says of its kernels. A
/// part of a server of several devices is one of each. Layers that FlexNet's
/// names do not tell apart have the times of the first one. On failure (an
/// operator that FlexNet does not have) returns nothing and sets `error`.
std::optional<std::string> writeFlexNetMeasures(const Graph &graph,
                                                const Topology &topology,
                                                const CostModel &cost,
                                                std::string &error);

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// An operator as FlexNet has it: a forward operator, and those that belong to
/// it (its activation, its bias).
struct FlexNetLayer {
  OpId op = -1;
  std::string type;    ///< "Conv2D"
  uint64_t number = 0; ///< FlexFlow's, of the type
  std::string name;    ///< of its measurements: "Conv2D_3_3_64"
  /// FlexNet has all weights of its operators as one tensor.
  bool joinsWeights = false;
};

struct FlexNetLayers {
  std::vector<FlexNetLayer> list; ///< in the order of the graph
  /// By operator: the layer that it is of. -1: of none, as what is not of the
  /// forward pass, what reads no layer, and a loss without softmax.
  std::vector<int> of;
};

/// On failure (an operator that FlexNet has no measurements of) returns nothing
/// and sets `error`.
std::optional<FlexNetLayers> flexNetLayers(const Graph &graph,
                                           std::string &error);

/// Degrees by dimension of the layer's result, innermost first, as measurements
/// have them; nothing if FlexNet cannot say how the operator is split.
std::optional<std::vector<int64_t>> flexNetDegrees(const Graph &graph, OpId op,
                                                   const Configuration &config);

/// Milliseconds. FlexNet's files of tasks have 32-bit floats.
struct FlexNetTimes {
  float forward = 0, backward = 0;
};

/// What was measured of a layer in so many parts; nothing if it was not.
std::optional<FlexNetTimes> flexNetTimes(const FlexNetMeasures &measures,
                                         const std::string &name,
                                         const std::vector<int64_t> &degrees);

/// A layer in parts along samples.
struct FlexNetSplit {
  int64_t servers = 1;  ///< on how many it was measured
  Configuration config; ///< as many parts on each, all on device 0
};

/// The splits of `layer` that were measured and that its operator can have, on
/// servers of so many GPUs, from few servers to many.
std::vector<FlexNetSplit> flexNetSplits(const FlexNetMeasures &measures,
                                        const Graph &graph,
                                        const FlexNetLayer &layer,
                                        int64_t gpusPerServer);

/// What to be wary of, a line each: layers of different shapes that share one
/// measurement, for names do not tell them apart; and times that fall by more
/// than there are more parts, which no device can do.
std::vector<std::string> flexNetDoubts(const FlexNetMeasures &measures,
                                       const Graph &graph,
                                       const FlexNetLayers &layers);

} // namespace ffc::plan

#endif // FFC_PLAN_FLEXNET_H
