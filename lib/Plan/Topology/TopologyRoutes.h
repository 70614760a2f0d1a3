//===- TopologyRoutes.h - shortest routes -----------------------*- C++ -*-===//
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TOPOLOGYROUTES_H
#define FFC_LIB_PLAN_TOPOLOGYROUTES_H

#include "ffc/Plan/Topology.h"

#include <atomic>
#include <mutex>

namespace ffc::plan {

/// The routes from one device to all others. Few costs differ in a regular
/// network, so devices have the number of theirs: a table of two bytes for each
/// pair stays in the cache where one of sixteen does not.
struct RouteTree {
  std::vector<RouteCost> costs; ///< those that occur
  std::vector<uint16_t> costOf; ///< by destination device: into `costs`
  std::vector<LinkId> last; ///< by vertex: the link that arrives there, or -1

  const RouteCost &cost(DeviceId dst) const { return costs[costOf[dst]]; }
  size_t bytes() const;
};

/// Route trees by source, each computed when first asked for. They are kept up
/// to a memory limit (all of them for several thousand devices); beyond it only
/// the latest is, so that huge topologies stay usable, slowly.
class RouteTable {
public:
  RouteTable() = default;
  ~RouteTable();
  RouteTable(const RouteTable &) = delete;
  RouteTable &operator=(const RouteTable &) = delete;

  /// To be called once the graph is complete. The references must outlive this.
  void build(const std::vector<Vertex> &vertices,
             const std::vector<Link> &links, int numDevices);
  RouteCost cost(DeviceId src, DeviceId dst) const;
  /// Appends the links of the way to a device or another vertex that can be
  /// reached, last one first.
  void appendLinks(DeviceId src, int dst, std::vector<LinkId> &way) const;
  /// The same, each with the share 1.
  void appendLinks(DeviceId src, int dst,
                   std::vector<std::pair<LinkId, double>> &way) const;
  struct Distance {
    Picoseconds latency = 0;
    int hops = -1; ///< -1: cannot be reached
  };
  Distance distance(DeviceId src, int vertex) const;
  /// The first device that cannot be reached from `src`, or -1.
  DeviceId firstUnreachable(DeviceId src) const;

private:
  std::unique_ptr<RouteTree> compute(DeviceId src) const;
  /// Calls visit(link) for the links of the way, last one first.
  template <typename Visitor>
  void eachLink(DeviceId src, int dst, Visitor visit) const;
  /// Calls `read` with the tree of `src`.
  template <typename Read> auto withTree(DeviceId src, Read read) const;

  const std::vector<Link> *links = nullptr;
  int numDevices = 0;
  /// Links that leave vertex v: leaving[first[v]] to leaving[first[v + 1]].
  std::vector<int> first;
  std::vector<LinkId> leaving;

  mutable std::unique_ptr<std::atomic<const RouteTree *>[]> trees;
  mutable std::atomic<size_t> keptBytes{0};
  mutable std::mutex latestMutex;
  mutable std::unique_ptr<RouteTree> latest;
  mutable DeviceId latestSource = -1;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TOPOLOGYROUTES_H
