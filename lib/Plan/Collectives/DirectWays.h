//===- DirectWays.h - ways that pass no other member ------------*- C++ -*-===//
//
// In a network without a switch, two members are neighbours where links lead
// from one to the other that pass neither a device of another member nor
// another member's node. Routes (Topology::route) take the least latency
// instead, and leave out links beside a quicker way over others, which
// collectives are the faster for.
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_DIRECTWAYS_H
#define FFC_LIB_PLAN_DIRECTWAYS_H

#include "ffc/Plan/Topology.h"

#include <vector>

namespace ffc::plan {

class DirectWays {
public:
  /// None are known of topologies with more vertices than this.
  static constexpr size_t kMaxVertices = 8192;

  DirectWays(const Topology &topology, const std::vector<DeviceId> &members);

  /// The one of least latency, of those the one with the fewest links; without
  /// links if there is none. Indices into the members.
  const Route &way(int src, int dst) const {
    return ways[static_cast<size_t>(src) * count + static_cast<size_t>(dst)];
  }

private:
  size_t count;
  std::vector<Route> ways;
};

/// Do links lead from node to node without a switch, or, in a topology of one
/// node only, from device to device? (Within the nodes of a cluster that is
/// NVLink, which libraries know.) Not known of topologies with more than
/// DirectWays::kMaxVertices vertices, which count as having a switch.
bool isDirectNetwork(const Topology &topology);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_DIRECTWAYS_H
