//===- TopologySearch.h - a network for a step's traffic --------*- C++ -*-===//
//
// Chooses which servers are joined, by which paths they send, and on which
// rings they add up tensors, for given traffic: by TopoOpt's rules, or by a
// search that compares those with wirings fitted to the traffic by the
// simulated time of the whole step. docs/topology-search.md
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_TOPOLOGYSEARCH_H
#define FFC_NETWORK_TOPOLOGYSEARCH_H

#include "ffc/Network/Wiring.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ffc::network {

/// How a network is chosen.
enum class TopologyRule {
  TopoOpt, ///< TopoOpt's way, strides as its released program selects them
  Paper,   ///< the same, strides as the paper selects them
  Best,    ///< the best of all that is tried
};

struct TopologySearchOptions {
  int degree = 4; ///< interfaces of each server
  LinkKind kind = LinkKind::TwoWay;
  double bandwidth = 0;    ///< bytes per second, of an interface
  Picoseconds latency = 0; ///< of a link
  TopologyRule rule = TopologyRule::Best;
  int64_t proposals = 20000; ///< of each annealing (WiringSearchOptions)
  /// The smallest degree that TopologyRule::Best tries, besides `degree`.
  int leastDegree = 1;
  /// Nothing but the most promising wirings with the shortest paths: to compare
  /// strategies.
  bool isRough = false;
  /// How many changes of the best wiring are judged, each of which is kept if
  /// it is faster.
  int changes = 0;
  uint64_t seed = 1;
};

/// How long the step takes on a network whose groups go on those rings.
using StepJudge = std::function<Picoseconds(
    const Network &network, const std::vector<RingOrders> &rings)>;

struct FoundTopology {
  Network network;
  std::vector<RingOrders> rings; ///< by group of the traffic
  Picoseconds time = 0;
  std::string way;           ///< how it was found
  int tried = 0, judged = 0; ///< networks
};

/// The network of least time. Every network is judged before it is compared,
/// but for those whose most loaded link alone takes longer than the best one.
/// TopologyRule::Best does what it would do for every smaller degree, too, down
/// to the least, and takes the best of all, so that more interfaces never make
/// a step slower; what it tries does not depend on the bandwidth, but for
/// changes.
/// Nothing more is tried when a network has reached stepBound(), and no degree
/// whose own bound is above the best time. The same for the same options on
/// every machine.
///
/// Nothing if no network of that degree is connected, which takes two two-way
/// interfaces of each of three servers or more.
std::optional<FoundTopology>
searchTopology(const Traffic &traffic, const TopologySearchOptions &options,
               const StepJudge &judge);

/// No network of that degree, with rings for all-reduces, makes the step
/// shorter: by its computation, by what a server has to send, or by what all
/// links have to carry, as few servers can be near each other.
Picoseconds stepBound(const Traffic &traffic, int degree, LinkKind kind,
                      double bandwidth);

} // namespace ffc::network

#endif // FFC_NETWORK_TOPOLOGYSEARCH_H
