//===- DirectWays.cpp - ways that pass no other member --------------------===//

#include "DirectWays.h"

#include "ffc/Plan/NetworkParts.h"

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>

using namespace ffc::plan;

namespace {

class WayFinder {
public:
  WayFinder(const Topology &topology, const std::vector<DeviceId> &members)
      : topology(topology), members(members), nodes(ownersOf(topology)),
        isMember(topology.vertices().size()), leaving(nodes.size()) {
    for (DeviceId member : members) {
      isMember[member] = true;
      memberNodes.insert(nodes[member]);
    }
    for (size_t i = 0; i < topology.links().size(); ++i)
      leaving[topology.links()[i].src].push_back(static_cast<LinkId>(i));
  }

  /// From a member to all, by Dijkstra's algorithm over (latency, links).
  void find(DeviceId src, Route *found) const {
    std::vector<LinkId> last(nodes.size(), -1);
    std::vector<bool> settled(nodes.size());
    using Entry = std::tuple<Picoseconds, int, int, LinkId>; // ... vertex, last
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    queue.push({0, 0, src, -1});
    while (!queue.empty()) {
      const auto [latency, hops, v, link] = queue.top();
      queue.pop();
      if (settled[v])
        continue;
      settled[v] = true;
      last[v] = link;
      if (isMember[v] && v != src)
        continue;
      const bool mustStay = nodes[v] != nodes[src] && nodes[v] >= 0 &&
                            memberNodes.count(nodes[v]);
      for (LinkId id : leaving[v]) {
        const Link &next = topology.links()[id];
        if (!settled[next.dst] && (!mustStay || nodes[next.dst] == nodes[v]))
          queue.push({latency + next.latency, hops + 1, next.dst, id});
      }
    }
    for (size_t m = 0; m < members.size(); ++m)
      if (members[m] != src && last[members[m]] >= 0)
        found[m] = trace(src, members[m], last);
  }

private:
  Route trace(DeviceId src, DeviceId dst,
              const std::vector<LinkId> &last) const {
    Route route;
    route.bandwidth = topology.links()[last[dst]].bandwidth;
    for (int v = dst; v != src; v = topology.links()[last[v]].src) {
      const Link &link = topology.links()[last[v]];
      route.links.push_back(last[v]);
      route.latency += link.latency;
      route.bandwidth = std::min(route.bandwidth, link.bandwidth);
    }
    std::reverse(route.links.begin(), route.links.end());
    return route;
  }

  const Topology &topology;
  const std::vector<DeviceId> &members;
  const std::vector<int> nodes; ///< by vertex
  std::vector<bool> isMember;   ///< by vertex
  std::set<int> memberNodes;
  std::vector<std::vector<LinkId>> leaving;
};

} // namespace

DirectWays::DirectWays(const Topology &topology,
                       const std::vector<DeviceId> &members)
    : count(members.size()), ways(count * count) {
  if (topology.vertices().size() > kMaxVertices)
    return;
  const WayFinder finder(topology, members);
  for (size_t m = 0; m < count; ++m)
    finder.find(members[m], &ways[m * count]);
}

bool ffc::plan::isDirectNetwork(const Topology &topology) {
  if (topology.vertices().size() > DirectWays::kMaxVertices)
    return false;
  const std::vector<int> nodes = ownersOf(topology);
  const bool isOneNode = topology.nodes().size() == 1;
  const int devices = topology.numDevices();
  for (const Link &link : topology.links()) {
    if (nodes[link.src] >= 0 && nodes[link.dst] >= 0 &&
        nodes[link.src] != nodes[link.dst])
      return true;
    if (isOneNode && devices > 2 && link.src < devices && link.dst < devices)
      return true;
  }
  return false;
}
