//===- TopologyData.h - what a topology holds -------------------*- C++ -*-===//
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TOPOLOGYDATA_H
#define FFC_LIB_PLAN_TOPOLOGYDATA_H

#include "SpreadRoutes.h"
#include "StatedRoutes.h"
#include "TopologyRoutes.h"

namespace ffc::plan {

struct Topology::Data {
  std::string name;
  std::vector<DeviceKind> kinds;
  std::vector<std::string> nodes;
  std::vector<Device> devices;
  std::vector<Vertex> vertices;
  std::vector<Link> links;
  /// Messages go over all shortest ways.
  bool isSpread = false;
  RouteTable routes;
  SpreadRoutes spread;
  StatedRoutes stated;

  /// To be called once the graph is complete.
  void buildRoutes() {
    routes.build(vertices, links, static_cast<int>(devices.size()));
    if (isSpread)
      spread.build(vertices.size(), links);
  }
  /// What is stated for two devices, or null.
  const StatedRoute *findStated(DeviceId src, DeviceId dst) const {
    if (stated.empty())
      return nullptr;
    return stated.find({src, dst}, {devices[src].node, devices[dst].node});
  }
  /// Of the widest path of a route that is stated for the two devices.
  RouteCost costOf(const StatedRoute &route, DeviceId src, DeviceId dst) const;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TOPOLOGYDATA_H
