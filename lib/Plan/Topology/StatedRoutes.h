//===- StatedRoutes.h - routes that the file states -------------*- C++ -*-===//
//
// Private to the library. A routing table: for pairs of devices, or of nodes
// and then for all of their devices, the ways of what is sent. Those of two
// devices go before those of their nodes.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_STATEDROUTES_H
#define FFC_LIB_PLAN_STATEDROUTES_H

#include "ffc/Plan/Topology.h"

#include <unordered_map>

namespace ffc::plan {

struct StatedPath {
  std::vector<int> via; ///< vertices, without the devices at the ends
  /// From device to device all of them; from node to node those from the first
  /// to the last of `via`, and each device has its ways to and from there.
  std::vector<LinkId> links; ///< in travel order
  double share = 1;
};

struct StatedRoute {
  bool isOfNodes = false;
  std::vector<StatedPath> paths;

  /// The path with the largest share, of several the first.
  const StatedPath &widest() const;
};

class StatedRoutes {
public:
  /// By the numbers of devices or of nodes.
  using Ends = std::pair<int, int>;

  bool empty() const { return isEmpty; }
  /// Returns false, and changes nothing, if these ends have a route already.
  bool add(Ends ends, StatedRoute route);
  bool hasWayOut(DeviceId device, int vertex) const {
    return waysOut.count(key(device, vertex)) > 0;
  }
  bool hasWayIn(int vertex, DeviceId device) const {
    return waysIn.count(key(vertex, device)) > 0;
  }
  /// How the routes of a device's node get from the device to their first
  /// vertex, and from their last one to the device.
  void addWayOut(DeviceId device, int vertex, std::vector<LinkId> links) {
    waysOut.emplace(key(device, vertex), std::move(links));
  }
  void addWayIn(int vertex, DeviceId device, std::vector<LinkId> links) {
    waysIn.emplace(key(vertex, device), std::move(links));
  }
  const std::vector<LinkId> &wayOut(DeviceId device, int vertex) const {
    return waysOut.at(key(device, vertex));
  }
  const std::vector<LinkId> &wayIn(int vertex, DeviceId device) const {
    return waysIn.at(key(vertex, device));
  }

  /// What is stated for two devices, or else for the nodes that they are in; or
  /// null.
  const StatedRoute *find(Ends devices, Ends nodes) const;
  /// Calls visit(link) for the links of a path between two devices of those
  /// that it is stated for, in travel order.
  template <class Visitor>
  void eachLink(const StatedRoute &route, const StatedPath &path, DeviceId src,
                DeviceId dst, Visitor visit) const {
    auto visitAll = [&](const std::vector<LinkId> &links) {
      for (LinkId link : links)
        visit(link);
    };
    if (route.isOfNodes)
      visitAll(wayOut(src, path.via.front()));
    visitAll(path.links);
    if (route.isOfNodes)
      visitAll(wayIn(path.via.back(), dst));
  }

  /// Those of devices, then those of nodes, in the order of their ends.
  std::vector<std::pair<Ends, const StatedRoute *>> sorted() const;

private:
  static uint64_t key(int a, int b) {
    return uint64_t(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
  }

  bool isEmpty = true; // asked for every route
  std::unordered_map<uint64_t, StatedRoute> ofDevices, ofNodes;
  std::unordered_map<uint64_t, std::vector<LinkId>> waysOut, waysIn;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_STATEDROUTES_H
