//===- NetworkParts.h - what a network is built of --------------*- C++ -*-===//
//
// Ports, switches and cables of the network between a topology's nodes, so that
// networks of equal cost can be compared, and how far apart it leaves the nodes
// (docs/topology.md, "What a network is built of"). What is inside of nodes is
// not counted: it comes with them.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_NETWORKPARTS_H
#define FFC_PLAN_NETWORKPARTS_H

#include "ffc/Plan/Topology.h"

#include <map>

namespace ffc::plan {

struct NetworkParts {
  /// By how many ports of them are in use, the number of switches.
  std::map<int, int> switches;
  /// By bandwidth in bytes per second, the number of cables. A cable joins two
  /// ports, in both directions or in one; if these differ, the faster counts.
  std::map<double, int> cables;
  int64_t switchPorts = 0; ///< ends of cables at switches
  int64_t nodePorts = 0;   ///< ends of cables at nodes

  int numSwitches() const;
  int64_t numCables() const;
};

NetworkParts networkParts(const Topology &topology);

/// How many cables routes cross from the first device of a node to that of
/// another.
struct NetworkHops {
  double mean = 0;
  int most = 0;
};

/// Of at most `maxSources` nodes that stand for all, to all nodes; zeros where
/// there is one node.
NetworkHops networkHops(const Topology &topology, int maxSources);

/// By vertex, the node whose router it is, or -1. Routers forward what passes
/// through a node of a network without switches; they belong to their nodes and
/// are no switches. They are told by what they are linked with: switches
/// outside of nodes, each with NICs (or devices) of one node, whose links lead
/// only to others of that kind.
std::vector<int> routersOf(const Topology &topology);

/// By vertex, the node that it is on, or whose router it is; -1: of none.
std::vector<int> ownersOf(const Topology &topology);

} // namespace ffc::plan

#endif // FFC_PLAN_NETWORKPARTS_H
