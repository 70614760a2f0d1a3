//===- SpreadRoutes.h - messages over all shortest ways ---------*- C++ -*-===//
//
// Private to the library. Equal-cost multi-path routing: every vertex divides
// what passes through it evenly among the links on which a shortest way leads
// on to the destination.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_SPREADROUTES_H
#define FFC_LIB_PLAN_SPREADROUTES_H

#include "TopologyRoutes.h"

namespace ffc::plan {

/// Links with the share of a message that goes over them.
using LinkLoads = std::vector<std::pair<LinkId, double>>;

class SpreadRoutes {
public:
  /// To be called once the graph is complete. The reference must outlive this.
  void build(size_t numVertices, const std::vector<Link> &links);
  /// All links of the shortest ways, a link that leaves a vertex after those
  /// that arrive there. `routes` has the same links.
  LinkLoads loads(const RouteTable &routes, DeviceId src, DeviceId dst) const;

private:
  const std::vector<Link> *links = nullptr;
  /// Links that arrive at vertex v: arriving[first[v]] to
  /// arriving[first[v + 1]].
  std::vector<int> first;
  std::vector<LinkId> arriving;
};

/// Ways with shares that load links as `loads` says, which are those of one
/// source and destination: always the widest that is left, so that there are
/// not more ways than links.
std::vector<std::pair<std::vector<LinkId>, double>>
waysOf(LinkLoads loads, const std::vector<Link> &links, DeviceId src,
       DeviceId dst);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_SPREADROUTES_H
