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

NetworkParts ffc::plan::networkParts(const Topology &topology) {
  const std::vector<Vertex> &vertices = topology.vertices();
  const std::vector<int> routers = routersOf(topology);
  auto nodeOf = [&](int v) {
    return vertices[v].node >= 0 ? vertices[v].node : routers[v];
  };
  // The halves of a NIC are one place.
  auto placeOf = [&](int v) {
    return vertices[v].kind == Vertex::Kind::NicIn ? v - 1 : v;
  };
  std::map<std::pair<int, int>, double> cables;
  for (const Link &link : topology.links()) {
    const int node = nodeOf(link.src);
    if (node >= 0 && node == nodeOf(link.dst))
      continue;
    double &bandwidth =
        cables[std::minmax({placeOf(link.src), placeOf(link.dst)})];
    bandwidth = std::max(bandwidth, link.bandwidth);
  }
  NetworkParts parts;
  std::map<int, int> portsOf; // by switch
  for (const auto &[ends, bandwidth] : cables) {
    ++parts.cables[bandwidth];
    for (int end : {ends.first, ends.second}) {
      if (nodeOf(end) >= 0) {
        ++parts.nodePorts;
      } else {
        ++parts.switchPorts;
        ++portsOf[end];
      }
    }
  }
  for (auto [vertex, ports] : portsOf)
    ++parts.switches[ports];
  return parts;
}
