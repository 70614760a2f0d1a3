//===- MemberGraph.h - how the members of a group are joined ----*- C++ -*-===//
//
// What the algorithms for collectives see of a topology: the members of a
// group, the way from each to each other, and which links these ways share.
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_MEMBERGRAPH_H
#define FFC_LIB_PLAN_MEMBERGRAPH_H

#include "ffc/Plan/Topology.h"

#include <vector>

namespace ffc::plan {

class MemberGraph {
public:
  /// Members are numbered in the given order. Ways are the topology's routes.
  MemberGraph(const Topology &topology, const std::vector<DeviceId> &members);

  /// The same where neighbours have their direct way in place of the route.
  MemberGraph withDirectWays() const;

  /// The same with every way turned round: what an all-gather does on it, a
  /// reduce-scatter does backwards on the graph itself.
  MemberGraph transposed() const;

  int size() const { return members; }

  struct Way {
    std::vector<int> links; ///< indices into bandwidths()
    Picoseconds latency = 0;
    double bandwidth = 0; ///< of the narrowest link
  };
  const Way &way(int src, int dst) const { return ways[index(src, dst)]; }
  /// Bytes per second of the links that ways go over.
  const std::vector<double> &bandwidths() const { return linkBandwidths; }
  /// The topology's number of a link.
  LinkId linkOf(int index) const { return linkIds[index]; }
  /// Does every way have its reverse with equal latency and bandwidth?
  bool isSymmetric() const;

  /// A pair of members that a way joins which passes no other member's node
  /// (DirectWays.h): neighbours.
  struct Edge {
    int src = 0, dst = 0;
  };
  const std::vector<Edge> &edges() const { return neighbours; }
  bool areNeighbours(int src, int dst) const {
    return !direct[index(src, dst)].links.empty();
  }
  /// Bytes per second that every edge's way has for itself, whatever goes over
  /// the others; empty where edges share links that are too narrow for that, as
  /// those of a switch do.
  std::vector<double> ownBandwidths() const;
  /// How long a member takes to start a transfer before it can start the next.
  Picoseconds launch(int member) const { return launches[member]; }
  /// The node that each member is on, numbered from 0 in order of appearance.
  const std::vector<int> &nodes() const { return nodeOf; }

private:
  size_t index(int src, int dst) const {
    return static_cast<size_t>(src) * static_cast<size_t>(members) +
           static_cast<size_t>(dst);
  }

  int members = 0;
  std::vector<Way> ways;
  std::vector<Way> direct; ///< as ways; without links if not neighbours
  std::vector<double> linkBandwidths;
  std::vector<LinkId> linkIds;
  std::vector<Edge> neighbours;
  std::vector<int> nodeOf;
  std::vector<Picoseconds> launches;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_MEMBERGRAPH_H
