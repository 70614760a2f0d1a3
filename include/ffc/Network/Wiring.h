//===- Wiring.h - which servers are joined ----------------------*- C++ -*-===//
//
// A network before paths are chosen: whose interfaces are joined, and on which
// rings all-reduces go. Wirings come from TopoOpt's rules (TopoOptWiring.h) and
// from a search (TopologySearch.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_WIRING_H
#define FFC_NETWORK_WIRING_H

#include "ffc/Network/Traffic.h"

#include <string>
#include <vector>

namespace ffc::network {

struct Wiring {
  int numServers = 0;
  LinkKind kind = LinkKind::TwoWay;
  /// Each takes an interface of both servers; the same pair may come again.
  /// One-way: from the first to the second.
  Pairs connections;
  /// By group of the traffic. Neighbours in a ring need not be joined.
  std::vector<RingOrders> rings;
};

/// Whether every server reaches every other.
bool isConnected(const Wiring &wiring);

/// The most interfaces that a server uses; one-way, to send or to receive.
int degreeOf(const Wiring &wiring);

/// What is sent between two servers in each half of the step if all-reduces go
/// on the wiring's rings: in the forward half transfers, in the backward half
/// transfers and all-reduces.
struct PhaseDemand {
  Demand forward, backward;
  Demand messages; ///< how many, in both
};
PhaseDemand demandOf(const Traffic &traffic,
                     const std::vector<RingOrders> &rings);

/// The network of `wiring`, parallel connections as one link. `bandwidth` is
/// that of an interface. Without paths.
Network linksOf(const Wiring &wiring, double bandwidth, Picoseconds latency);

struct PathOptions {
  int mostPaths = 1; ///< of a pair, which has no more than messages
  int detours = 1;   ///< hops more than the fewest; 0 or 1
};

/// Adds paths for every pair of servers that is connected: those by which the
/// most loaded links of both halves of the step have the least to carry, found
/// by local search. A message goes on one of its pair's paths.
void addBalancedPaths(Network &network, const PhaseDemand &demand,
                      const PathOptions &options = {});

/// What the most loaded link carries, in bytes for each of its interfaces, in
/// either half of the step and in all of it.
struct PeakLoad {
  double forward = 0, backward = 0, both = 0;
};
PeakLoad peakLoadOf(const Network &network, const PhaseDemand &demand);

} // namespace ffc::network

#endif // FFC_NETWORK_WIRING_H
