//===- Traffic.h - what servers send in a step ------------------*- C++ -*-===//
//
// The sums of a task graph that a network is chosen by: what each server sends
// to each other in either half of the step, what groups add up together, and
// how long it takes to compute.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_TRAFFIC_H
#define FFC_NETWORK_TRAFFIC_H

#include "ffc/Network/Matching.h"
#include "ffc/Network/TaskGraph.h"

#include <cstdint>
#include <vector>

namespace ffc::network {

/// Servers that add up tensors together.
struct AllReduceGroup {
  std::vector<VertexId> members; ///< in the order of the first all-reduce
  double bytes = 0;              ///< of all tensors
  std::vector<int64_t> tensors;  ///< bytes of each

  /// What each member sends of all tensors in rounds: 2 (m - 1) / m.
  double sentByEach() const;
  /// What each member sends on one of `rings` rings that every tensor is
  /// divided among. Less where parts are so small that they go in a single
  /// round (Simulate.h).
  double sentOnRing(int rings) const;
};

struct Traffic {
  int numServers = 0;
  /// Bytes of transfers, of those that follow a forward task and of others.
  Demand forward, backward;
  Demand messages; ///< how many transfers there are, of both
  /// Of two members or more, each set of them once, in order of appearance.
  std::vector<AllReduceGroup> groups;
  /// How long the step takes if nothing has to be sent.
  Picoseconds computation = 0;
};

Traffic trafficOf(const TaskGraph &graph);

/// The ways on which all-reduces of one group go at once, as the members in the
/// order of each ring.
using RingOrders = std::vector<std::vector<VertexId>>;

/// `graph` with every all-reduce of a group of `traffic`, which is the graph's,
/// as one for each of the group's `rings`, with an even part of the bytes. An
/// all-reduce with fewer bytes than rings goes on some of them only.
TaskGraph divideAllReduces(const TaskGraph &graph, const Traffic &traffic,
                           const std::vector<RingOrders> &rings);

} // namespace ffc::network

#endif // FFC_NETWORK_TRAFFIC_H
