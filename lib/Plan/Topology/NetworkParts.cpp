//===- NetworkParts.cpp - what a network is built of ----------------------===//

#include "ffc/Plan/NetworkParts.h"

#include <algorithm>
#include <numeric>

using namespace ffc::plan;

int NetworkParts::numSwitches() const {
  int sum = 0;
  for (auto [ports, count] : switches)
    sum += count;
  return sum;
}

int64_t NetworkParts::numCables() const {
  int64_t sum = 0;
  for (auto [bandwidth, count] : cables)
    sum += count;
  return sum;
}

std::vector<int> ffc::plan::routersOf(const Topology &topology) {
  const std::vector<Vertex> &vertices = topology.vertices();
  constexpr int kNone = -1, kSeveral = -2;
  std::vector<int> nodeOf(vertices.size(), kNone);
  // Switches that are linked are routers together or not at all.
  std::vector<int> leader(vertices.size());
  std::iota(leader.begin(), leader.end(), 0);
  auto find = [&](int v) {
    while (leader[v] != v)
      v = leader[v] = leader[leader[v]];
    return v;
  };
  for (const Link &link : topology.links())
    for (auto [v, other] :
         {std::pair(link.src, link.dst), std::pair(link.dst, link.src)}) {
      const int node = vertices[other].node;
      if (vertices[v].node >= 0)
        continue;
      if (node < 0)
        leader[find(v)] = find(other);
      else if (nodeOf[v] != node)
        nodeOf[v] = nodeOf[v] == kNone ? node : kSeveral;
    }
  std::vector<bool> isOfNodes(vertices.size(), true);
  for (size_t v = 0; v < vertices.size(); ++v)
    if (vertices[v].node < 0 && nodeOf[v] < 0)
      isOfNodes[find(static_cast<int>(v))] = false;
  for (size_t v = 0; v < vertices.size(); ++v)
    if (!isOfNodes[find(static_cast<int>(v))])
      nodeOf[v] = kNone;
  return nodeOf;
}

std::vector<int> ffc::plan::ownersOf(const Topology &topology) {
  std::vector<int> owners = routersOf(topology);
  for (size_t v = 0; v < owners.size(); ++v)
    if (const int node = topology.vertices()[v].node; node >= 0)
      owners[v] = node;
  return owners;
}

/// Does the link join a node with anything else, or two switches?
static bool isCable(const Link &link, const std::vector<int> &owners) {
  return owners[link.src] < 0 || owners[link.src] != owners[link.dst];
}

NetworkParts ffc::plan::networkParts(const Topology &topology) {
  const std::vector<Vertex> &vertices = topology.vertices();
  const std::vector<int> owners = ownersOf(topology);
  // The halves of a NIC are one place.
  auto placeOf = [&](int v) {
    return vertices[v].kind == Vertex::Kind::NicIn ? v - 1 : v;
  };
  // By what they join: the faster direction.
  std::map<std::pair<int, int>, const Link *> joined;
  for (const Link &link : topology.links()) {
    if (!isCable(link, owners))
      continue;
    const Link *&fastest =
        joined[std::minmax({placeOf(link.src), placeOf(link.dst)})];
    if (!fastest || fastest->bandwidth < link.bandwidth)
      fastest = &link;
  }
  NetworkParts parts;
  std::map<int, int> portsOf; // by switch
  for (const auto &[ends, link] : joined) {
    parts.cables[link->bandwidth / link->cables] += link->cables;
    for (int end : {ends.first, ends.second}) {
      if (owners[end] >= 0) {
        parts.nodePorts += link->cables;
      } else {
        parts.switchPorts += link->cables;
        portsOf[end] += link->cables;
      }
    }
  }
  for (auto [vertex, ports] : portsOf)
    ++parts.switches[ports];
  return parts;
}

NetworkHops ffc::plan::networkHops(const Topology &topology, int maxSources) {
  const std::vector<int> owners = ownersOf(topology);
  // Nodes may be without devices.
  std::vector<DeviceId> firstDevices;
  std::vector<bool> isSeen(topology.nodes().size());
  for (DeviceId id = 0; id < topology.numDevices(); ++id)
    if (const int node = topology.device(id).node; !isSeen[node]) {
      isSeen[node] = true;
      firstDevices.push_back(id);
    }
  const auto count = static_cast<int64_t>(firstDevices.size());
  const int64_t sources = std::min<int64_t>(count, maxSources);
  NetworkHops hops;
  int64_t sum = 0;
  std::vector<LinkId> links;
  for (int64_t i = 0; i < sources; ++i)
    for (DeviceId dst : firstDevices) {
      links.clear();
      topology.appendLinks(firstDevices[i * count / sources], dst, links);
      const auto cables = static_cast<int>(
          std::count_if(links.begin(), links.end(), [&](LinkId link) {
            return isCable(topology.links()[link], owners);
          }));
      sum += cables;
      hops.most = std::max(hops.most, cables);
    }
  if (count > 1)
    hops.mean =
        static_cast<double>(sum) / static_cast<double>(sources * (count - 1));
  return hops;
}
