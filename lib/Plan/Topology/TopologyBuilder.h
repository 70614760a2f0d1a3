//===- TopologyBuilder.h - makes a checked topology graph -------*- C++ -*-===//
//
// Private to the library. Takes the parts of a topology one by one, expands the
// regular ones (interconnects, nodes) to vertices and links, and refuses what
// is not a topology. Every `line` is the place in the file that asks for the
// part; all functions throw Malformed (Text.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TOPOLOGYBUILDER_H
#define FFC_LIB_PLAN_TOPOLOGYBUILDER_H

#include "NodeWays.h"
#include "TopologyData.h"
#include "TopologyPattern.h"

#include <map>
#include <unordered_map>

namespace ffc::plan {

/// `count` equal nodes, joined by their NICs.
struct NodeGroup {
  int count = 0;
  int devicesPerNode = 0;
  int kind = 0;
  /// Of a node's devices; figures of hubs are those between two devices.
  std::optional<Pattern> interconnect;
  int nicsPerNode = 0;
  LinkFigures nic;    ///< between NIC and network, each way
  LinkFigures attach; ///< between device and NIC, each way
  /// Between nodes. A switch, or one for each rail, has NICs on it only, and no
  /// figures of its own.
  Pattern network;
  int line = 0;
};

/// One path of a route that the file states.
struct PathStatement {
  std::vector<std::string> via; ///< names of vertices
  double share = 1;
  int line = 0;
};

class TopologyBuilder {
public:
  TopologyBuilder() : data(std::make_shared<Topology::Data>()) {}

  /// Adds or replaces a kind that devices may name.
  void defineKind(int line, DeviceKind kind);
  /// The number of the kind called `name`, for addDevice.
  int findKind(int line, const std::string &name) const;
  const DeviceKind &kind(int number) const { return known[number]; }

  int addNode(int line, const std::string &name);
  /// The number of the node called `name`.
  int findNode(int line, const std::string &name) const;
  /// The only node, made (as "n0") if there is none; -1 if there are several.
  int onlyNode();

  /// Devices precede all other vertices.
  void addDevice(int line, const std::string &name, int kind, int node);
  /// `count` devices called "d" and their number.
  void addDevices(int line, int64_t count, int kind, int node);
  void addSwitch(int line, const std::string &name, int node);
  void addNic(int line, const std::string &name, int node);
  /// One direction, between vertices by name.
  void addLink(int line, const std::string &from, const std::string &to,
               LinkFigures figures);
  /// Joins devices [begin, end); a hub's name starts with `prefix` and the hub
  /// is in `node`.
  void connect(const Pattern &interconnect, DeviceId begin, DeviceId end,
               const std::string &prefix, int node);
  void addNodes(const NodeGroup &group);
  int numDevices() const { return static_cast<int>(data->devices.size()); }

  /// Messages go over all shortest ways.
  void spreadRoutes() { data->isSpread = true; }
  /// How messages go from a device to another, or from all devices of a node to
  /// those of another. Links precede routes.
  void addRoute(int line, const std::string &from, const std::string &to,
                const std::vector<PathStatement> &paths);

  /// Checks that all devices reach each other.
  Topology finish(const std::string &name);

private:
  /// Vertices of a name: traffic from its own node arrives at `inside`, other
  /// traffic at `outside`; they differ for NICs only.
  struct Place {
    int inside = -1, outside = -1;
    int line = 0;
  };

  void addVertex(int line, const std::string &name, Vertex::Kind kind,
                 int node);
  /// `owner` names what says so in messages: "the link".
  const Place &findPlace(int line, const std::string &owner,
                         const std::string &name) const;
  /// The vertices that a link from `source` to `target` joins.
  std::pair<int, int> endsOf(const Place &source, const Place &target) const;
  void addBothWays(int line, const std::string &a, const std::string &b,
                   LinkFigures figures);
  /// By node, the names of what its NICs are linked with: one for all of them
  /// or one for each.
  using Uplinks = std::vector<std::vector<std::string>>;
  /// Adds the network's switches, or a router for each node.
  Uplinks addUplinks(const NodeGroup &group);
  /// The links between what addUplinks added.
  void joinUplinks(const NodeGroup &group, const Uplinks &uplinks);
  void joinFatTree(const NodeGroup &group);
  void joinRails(const NodeGroup &group);
  void joinDragonfly(const NodeGroup &group);
  /// Fails for the sake of the device `lost`, one of the two.
  [[noreturn]] void failUnreached(DeviceId lost, DeviceId from,
                                  DeviceId to) const;

  /// What a route leads from or to.
  struct RouteEnd {
    bool isNode = false;
    int number = 0; ///< of a device or node
    std::string name;
  };
  RouteEnd findRouteEnd(int line, const std::string &name) const;
  /// Checks a path and looks up its vertices and links.
  StatedPath resolve(const PathStatement &path, const RouteEnd &from,
                     const RouteEnd &to) const;
  /// Finds how the devices of the ends get to the path and from it.
  void completePath(const StatedPath &path, int line, const RouteEnd &from,
                    const RouteEnd &to);
  /// Fails if a path between `from` and `to` passes through a vertex twice.
  void expectNoLoop(std::vector<int> vertices, int line, const RouteEnd &from,
                    const RouteEnd &to) const;
  const std::string &nameOf(DeviceId id) const {
    return data->devices[id].name;
  }

  std::shared_ptr<Topology::Data> data;
  std::vector<DeviceKind> known;
  std::vector<int> used; ///< by number of a known kind: its index in the data
  std::vector<int> deviceLines;
  std::unordered_map<std::string, Place> places;
  std::unordered_map<std::string, int> nodeNumbers;
  std::map<std::pair<int, int>, LinkId> linkIds;
  std::vector<int> linkLines;
  /// For routes; made when first needed.
  std::map<int, NodeWays> waysOut, waysIn; ///< by node
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TOPOLOGYBUILDER_H
