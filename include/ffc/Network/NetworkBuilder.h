//===- NetworkBuilder.h - networks of known forms ---------------*- C++ -*-===//
#ifndef FFC_NETWORK_NETWORKBUILDER_H
#define FFC_NETWORK_NETWORKBUILDER_H

#include "ffc/Network/Network.h"
#include "ffc/Plan/Topology.h"

#include <optional>
#include <set>
#include <utility>

namespace ffc::network {

/// What a link is made of. Of one with several interfaces the bandwidth is that
/// of all together.
struct Interface {
  double bandwidth = 0; ///< bytes per second
  Picoseconds latency = 0;
};

/// Gives all links the speed of their interfaces.
void setSpeed(Network &network, const Interface &interface);

/// Pairs of servers that get paths; where null is passed for them, all do.
using ServerPairs = std::set<std::pair<VertexId, VertexId>>;

/// Servers on one switch.
Network makeSwitch(int servers, const Interface &interface,
                   const ServerPairs *only = nullptr);

/// A fat tree of switches with `ports` ports: ports^3 / 4 servers on three
/// levels, with as much bandwidth on each (Al-Fares et al., SIGCOMM 2008), of
/// which the first `servers` take part. All shortest paths of a pair have equal
/// shares; there are (ports / 2)^2 of them, the first one by the destination
/// (D-mod-k, Zahavi et al., 2010), and if `only` is not null, only those pairs
/// get any. On failure (an odd number of ports, more servers than
/// there is room for) returns nothing and sets `error`.
std::optional<Network> makeFatTree(int ports, int servers,
                                   const Interface &interface,
                                   std::string &error,
                                   const ServerPairs *only = nullptr);

/// The nodes of a topology as servers, in its order, and the links between
/// them; what is inside a node is left out. The way from a node to another is
/// the topology's route from each device to the one with the same place in the
/// other node, with equal shares. On failure (one node only) returns nothing
/// and sets `error`.
std::optional<Network> networkOf(const plan::Topology &topology,
                                 std::string &error,
                                 const ServerPairs *only = nullptr);

} // namespace ffc::network

#endif // FFC_NETWORK_NETWORKBUILDER_H
