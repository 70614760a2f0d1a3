//===- NodeWays.h - ways between a node's devices and its edge --*- C++ -*-===//
//
// Private to the library. Shortest ways from the devices of a node to vertices
// in it and next to it, or from these to the devices, that do not leave the
// node on their way.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_NODEWAYS_H
#define FFC_LIB_PLAN_NODEWAYS_H

#include "TopologyRoutes.h"

namespace ffc::plan {

class NodeWays {
public:
  enum class Direction { Out, In };
  NodeWays(const std::vector<Vertex> &vertices, const std::vector<Link> &links,
           const std::vector<Device> &devices, int node, Direction direction);
  // The table refers to the links.
  NodeWays(const NodeWays &) = delete;
  NodeWays &operator=(const NodeWays &) = delete;

  /// Of the node, in order.
  const std::vector<DeviceId> &devices() const { return members; }
  /// The links in travel order; nothing if there is no way. It has links unless
  /// the vertex is the device.
  std::optional<std::vector<LinkId>> way(DeviceId device, int vertex) const;

private:
  Direction direction;
  std::vector<DeviceId> members;
  std::vector<Link> links; ///< turned round for Direction::In
  std::vector<LinkId> ids; ///< of `links`
  RouteTable routes;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_NODEWAYS_H
