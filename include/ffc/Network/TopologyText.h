//===- TopologyText.h - a network as a topology file ------------*- C++ -*-===//
//
// The long form of docs/topology.md for a network without switches, with its
// paths as a routing table, so that programs can be planned for it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_TOPOLOGYTEXT_H
#define FFC_NETWORK_TOPOLOGYTEXT_H

#include "ffc/Network/Network.h"

#include <string>

namespace ffc::network {

/// What a server has inside.
struct ServerParts {
  int devices = 1;
  std::string kind = "a100"; ///< a device kind of topology files
  /// Between its devices, over one switch; of no meaning to a single device.
  double bandwidth = 0; ///< bytes per second
  Picoseconds latency = 0;
};

/// Server i is node `n<i>` with a router, which its links to other servers are
/// attached to, and a NIC between router and devices, as wide as all of its
/// interfaces together and without latency.
std::string printTopology(const Network &network, const std::string &name,
                          const ServerParts &parts);

} // namespace ffc::network

#endif // FFC_NETWORK_TOPOLOGYTEXT_H
