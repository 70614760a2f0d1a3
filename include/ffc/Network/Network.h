//===- Network.h - servers, links and the ways between them -----*- C++ -*-===//
//
// What flows and packets travel over: servers and switches, joined by directed
// links, with one or more paths from server to server. Finer than a topology
// (ffc/Plan/Topology.h), which has one path from device to device; coarser in
// that a server has no inside.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_NETWORK_H
#define FFC_NETWORK_NETWORK_H

#include "ffc/Plan/Units.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ffc::network {

using plan::Picoseconds;

/// Servers are the vertices from 0 to the number of servers, switches follow.
using VertexId = int32_t;
using LinkId = int32_t; ///< index into Network::links

/// One direction of a connection.
struct Link {
  VertexId src = 0, dst = 0;
  double bandwidth = 0; ///< bytes per second, of all its interfaces together
  Picoseconds latency = 0;
  int interfaces = 1; ///< parallel connections that it stands for
};

/// One way from a server to another.
struct Path {
  std::vector<LinkId> links; ///< in travel order; not empty
  double share = 1;          ///< of what is sent; those of a pair add up to 1
};

/// The closed walks on which all-reduces of groups of one size go, as strides:
/// from server i to i + jumps[0], then on by jumps[1], modulo the number of
/// servers. Data is divided among them evenly.
using RingJumps = std::vector<std::vector<int32_t>>;

struct Network {
  int numServers = 0;
  int numSwitches = 0;
  std::vector<Link> links;
  /// From server to another server. Pairs that never send may be left out.
  std::map<std::pair<VertexId, VertexId>, std::vector<Path>> paths;
  /// By number of members.
  std::map<int, RingJumps> rings;

  int numVertices() const { return numServers + numSwitches; }
};

/// What is wrong with a network that was made or read, in words, or nothing:
/// links join different vertices and carry something, every path leads over
/// links from its server to its other server, shares add up to 1, and every
/// jump of a ring has a link from every server.
std::string faultOf(const Network &network);

} // namespace ffc::network

#endif // FFC_NETWORK_NETWORK_H
