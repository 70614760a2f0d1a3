//===- NodeNetworks.cpp - equal nodes and the networks between them -------===//
//
// The regular parts of a topology, as TopologyBuilder expands them.
//
//===----------------------------------------------------------------------===//

#include "TopologyBuilder.h"

using namespace ffc::plan;

void TopologyBuilder::connect(const Pattern &interconnect, DeviceId begin,
                              DeviceId end, const std::string &prefix,
                              int node) {
  const int line = interconnect.line;
  const LinkFigures &figures = interconnect.figures;
  if (interconnect.isDirect()) {
    for (auto [src, dst] : linksOf(interconnect, end - begin, "devices"))
      addLink(line, nameOf(begin + src), nameOf(begin + dst), figures);
    return;
  }
  if (end - begin < 2)
    return;
  const bool isSwitch = interconnect.type == Pattern::Type::Switch;
  const std::string hub = prefix + (isSwitch ? "switch" : "memory");
  addSwitch(line, hub, node);
  // The way between two devices has two links.
  const Picoseconds out = figures.latency / 2;
  for (DeviceId id = begin; id < end; ++id) {
    addLink(line, nameOf(id), hub, {figures.bandwidth, out});
    addLink(line, hub, nameOf(id), {figures.bandwidth, figures.latency - out});
  }
}

//===----------------------------------------------------------------------===//
// Switches of networks
//===----------------------------------------------------------------------===//

static std::string edgeName(const FatTree &tree, int edge) {
  const int pod = tree.podOf(edge);
  return "network.p" + std::to_string(pod) + ".edge" +
         std::to_string(edge - pod * tree.half);
}
static std::string aggregationName(const FatTree &tree, int aggregation) {
  return "network.p" + std::to_string(aggregation / tree.up) + ".agg" +
         std::to_string(aggregation % tree.up);
}
static std::string coreName(int i) {
  return "network.core" + std::to_string(i);
}

/// How many groups of nodes have rail switches of their own.
static int numRailGroups(const NodeGroup &group) {
  const int size = group.network.group > 0 ? group.network.group : group.count;
  return (group.count + size - 1) / size;
}
static std::string railName(int railGroup, int rail) {
  return "network.g" + std::to_string(railGroup) + ".rail" +
         std::to_string(rail);
}
static std::string spineName(int i) {
  return "network.spine" + std::to_string(i);
}

static std::string routerName(const Dragonfly &dragonfly, int router) {
  return "network.g" + std::to_string(router / dragonfly.routers) + ".router" +
         std::to_string(router % dragonfly.routers);
}

TopologyBuilder::Uplinks TopologyBuilder::addUplinks(const NodeGroup &group) {
  const Pattern &network = group.network;
  auto add = [&](const std::string &name) {
    addSwitch(network.line, name, -1);
    return name;
  };
  Uplinks uplinks(group.count);
  if (network.type == Pattern::Type::Switch) {
    uplinks.assign(group.count, {add("network")});
  } else if (network.isDirect()) {
    for (int n = 0; n < group.count; ++n)
      uplinks[n] = {add(data->nodes[n] + ".router")};
  } else if (network.type == Pattern::Type::RailOnly) {
    std::vector<std::string> rails;
    for (int rail = 0; rail < group.nicsPerNode; ++rail)
      rails.push_back(add("network.rail" + std::to_string(rail)));
    uplinks.assign(group.count, rails);
  } else if (network.type == Pattern::Type::RailOptimised) {
    const int groups = numRailGroups(group);
    for (int g = 0; g < groups; ++g)
      for (int rail = 0; rail < group.nicsPerNode; ++rail)
        add(railName(g, rail));
    for (int i = 0; i < network.spines; ++i)
      add(spineName(i));
    for (int n = 0; n < group.count; ++n)
      for (int rail = 0; rail < group.nicsPerNode; ++rail)
        uplinks[n].push_back(
            railName(network.group > 0 ? n / network.group : 0, rail));
  } else if (network.type == Pattern::Type::Dragonfly) {
    const Dragonfly dragonfly(network, group.count, "nodes");
    for (int i = 0; i < dragonfly.groups * dragonfly.routers; ++i)
      add(routerName(dragonfly, i));
    for (int n = 0; n < group.count; ++n)
      uplinks[n] = {routerName(dragonfly, n / network.terminals)};
  } else {
    const FatTree tree(network, group.count, "nodes");
    for (int edge = 0; edge < tree.edges; ++edge)
      add(edgeName(tree, edge));
    for (int i = 0; i < tree.aggregations; ++i)
      add(aggregationName(tree, i));
    for (int i = 0; i < tree.cores; ++i)
      add(coreName(i));
    for (int n = 0; n < group.count; ++n)
      uplinks[n] = {edgeName(tree, n / tree.down)};
  }
  return uplinks;
}

//===----------------------------------------------------------------------===//
// Links of networks
//===----------------------------------------------------------------------===//

// Of routes of equal length the one is taken that arrives by the first link, so
// every switch begins with another one above it: routes spread over what is
// there.

void TopologyBuilder::joinFatTree(const NodeGroup &group) {
  const Pattern &network = group.network;
  const FatTree tree(network, group.count, "nodes");
  for (int edge = 0; tree.aggregations > 0 && edge < tree.edges; ++edge)
    for (int i = 0; i < tree.up; ++i) {
      const int place = (edge + i) % tree.up;
      addBothWays(network.line, edgeName(tree, edge),
                  aggregationName(tree, tree.podOf(edge) * tree.up + place),
                  network.figures);
    }
  for (int a = 0; tree.cores > 0 && a < tree.aggregations; ++a)
    for (int i = 0; i < tree.half; ++i) {
      const int pod = a / tree.up, place = a % tree.up;
      addBothWays(network.line, aggregationName(tree, a),
                  coreName(place * tree.half + (pod + i) % tree.half),
                  network.figures);
    }
}

void TopologyBuilder::joinRails(const NodeGroup &group) {
  const int rails = group.nicsPerNode, spines = group.network.spines;
  for (int leaf = 0; leaf < numRailGroups(group) * rails; ++leaf)
    for (int i = 0; i < spines; ++i)
      addBothWays(group.network.line, railName(leaf / rails, leaf % rails),
                  spineName((leaf + i) % spines), group.network.figures);
}

void TopologyBuilder::joinDragonfly(const NodeGroup &group) {
  const Pattern &network = group.network;
  const Dragonfly dragonfly(network, group.count, "nodes");
  for (int g = 0; g < dragonfly.groups; ++g)
    for (int a = 0; a < dragonfly.routers; ++a)
      for (int b = a + 1; b < dragonfly.routers; ++b)
        addBothWays(
            network.line, routerName(dragonfly, g * dragonfly.routers + a),
            routerName(dragonfly, g * dragonfly.routers + b), network.figures);
  std::map<std::pair<int, int>, int> cables;
  for (const std::pair<int, int> &ends : dragonfly.global)
    ++cables[ends];
  for (auto [ends, count] : cables) {
    LinkFigures figures = network.figures;
    figures.bandwidth *= count;
    figures.cables = count;
    addBothWays(network.line, routerName(dragonfly, ends.first),
                routerName(dragonfly, ends.second), figures);
  }
}

void TopologyBuilder::joinUplinks(const NodeGroup &group,
                                  const Uplinks &uplinks) {
  const Pattern &network = group.network;
  if (network.isDirect())
    for (auto [src, dst] : linksOf(network, group.count, "nodes"))
      addLink(network.line, uplinks[src].front(), uplinks[dst].front(),
              network.figures);
  else if (network.type == Pattern::Type::FatTree)
    joinFatTree(group);
  else if (network.type == Pattern::Type::RailOptimised && group.count > 1)
    joinRails(group);
  else if (network.type == Pattern::Type::Dragonfly && group.count > 1)
    joinDragonfly(group);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void TopologyBuilder::addNodes(const NodeGroup &group) {
  const int line = group.line;
  for (int n = 0; n < group.count; ++n) {
    const int node = addNode(line, "n" + std::to_string(n));
    addDevices(line, group.devicesPerNode, group.kind, node);
  }
  Uplinks uplinks;
  if (group.count > 1)
    uplinks = addUplinks(group);
  for (int n = 0; n < group.count; ++n) {
    const std::string prefix = data->nodes[n] + ".";
    const DeviceId begin = n * group.devicesPerNode;
    if (group.interconnect)
      connect(*group.interconnect, begin, begin + group.devicesPerNode, prefix,
              n);
    for (int i = 0; group.count > 1 && i < group.nicsPerNode; ++i) {
      const std::string nic = prefix + "nic" + std::to_string(i);
      addNic(line, nic, n);
      // All NICs of a node have the same uplink, or each its own.
      addBothWays(line, nic, uplinks[n][i % uplinks[n].size()], group.nic);
    }
    // Devices share the NICs evenly, neighbours the same one.
    for (int d = 0; group.count > 1 && d < group.devicesPerNode; ++d) {
      const int64_t nic = int64_t(d) * group.nicsPerNode / group.devicesPerNode;
      addBothWays(line, nameOf(begin + d), prefix + "nic" + std::to_string(nic),
                  group.attach);
    }
  }
  // Of one node as well: its network may still be wrong.
  joinUplinks(group, uplinks);
}
