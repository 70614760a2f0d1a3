//===- NetworkBuilder.cpp - networks of known forms -----------------------===//

#include "ffc/Network/NetworkBuilder.h"

#include <algorithm>

using namespace ffc::network;
namespace plan = ffc::plan;

namespace {

/// Adds links between vertices, both ways.
class Wiring {
public:
  Wiring(Network &network, const Interface &interface)
      : network(network), interface(interface) {}

  void join(VertexId a, VertexId b) {
    for (auto [src, dst] : {std::pair(a, b), std::pair(b, a)}) {
      links[{src, dst}] = static_cast<LinkId>(network.links.size());
      network.links.push_back(
          {src, dst, interface.bandwidth, interface.latency, 1});
    }
  }
  /// By way of these vertices.
  Path path(const std::vector<VertexId> &by, double share) const {
    Path result;
    result.share = share;
    for (size_t i = 0; i + 1 < by.size(); ++i)
      result.links.push_back(links.at({by[i], by[i + 1]}));
    return result;
  }

private:
  Network &network;
  const Interface interface;
  std::map<std::pair<VertexId, VertexId>, LinkId> links;
};

} // namespace

/// `only`, or all of so many servers.
static ServerPairs pairsOf(int servers, const ServerPairs *only) {
  if (only)
    return *only;
  ServerPairs pairs;
  for (VertexId src = 0; src < servers; ++src)
    for (VertexId dst = 0; dst < servers; ++dst)
      if (src != dst)
        pairs.insert({src, dst});
  return pairs;
}

void ffc::network::setSpeed(Network &network, const Interface &interface) {
  for (Link &link : network.links) {
    link.bandwidth = interface.bandwidth * link.interfaces;
    link.latency = interface.latency;
  }
}

Network ffc::network::makeSwitch(int servers, const Interface &interface,
                                 const ServerPairs *only) {
  Network network;
  network.numServers = servers;
  network.numSwitches = 1;
  Wiring wiring(network, interface);
  for (VertexId server = 0; server < servers; ++server)
    wiring.join(server, servers);
  for (auto [src, dst] : pairsOf(servers, only))
    network.paths[{src, dst}] = {wiring.path({src, servers, dst}, 1)};
  return network;
}

std::optional<Network> ffc::network::makeFatTree(int ports, int servers,
                                                 const Interface &interface,
                                                 std::string &error,
                                                 const ServerPairs *only) {
  // Room for as many devices as a topology has.
  constexpr int kMaxPorts = 64;
  if (ports < 2 || ports > kMaxPorts || ports % 2 != 0) {
    error = "expected a fat tree of switches with an even number of ports from "
            "2 to " +
            std::to_string(kMaxPorts) + ", found " + std::to_string(ports);
    return std::nullopt;
  }
  const int half = ports / 2, room = ports * half * half;
  if (servers > room) {
    error = "expected at most " + std::to_string(room) +
            " servers for a fat tree of switches with " +
            std::to_string(ports) + " ports, found " + std::to_string(servers);
    return std::nullopt;
  }
  // Switches: edges and aggregations by pod, then cores, by the aggregation
  // (of any pod) that they are joined to.
  Network network;
  network.numServers = servers;
  network.numSwitches = 2 * ports * half + half * half;
  Wiring wiring(network, interface);
  auto edgeOf = [&](VertexId server) { return servers + server / half; };
  auto aggregation = [&](int pod, int i) {
    return servers + ports * half + pod * half + i;
  };
  auto core = [&](int i, int j) {
    return servers + 2 * ports * half + i * half + j;
  };
  for (VertexId server = 0; server < servers; ++server)
    wiring.join(server, edgeOf(server));
  for (int pod = 0; pod < ports; ++pod)
    for (int i = 0; i < half; ++i)
      for (int j = 0; j < half; ++j) {
        wiring.join(servers + pod * half + j, aggregation(pod, i));
        wiring.join(aggregation(pod, i), core(i, j));
      }
  const int perPod = half * half;
  for (auto [src, dst] : pairsOf(servers, only)) {
    std::vector<Path> &paths = network.paths[{src, dst}];
    const VertexId up = edgeOf(src), down = edgeOf(dst);
    if (up == down) {
      paths.push_back(wiring.path({src, up, dst}, 1));
      continue;
    }
    const int from = src / perPod, to = dst / perPod;
    for (int i = 0; i < half; ++i) {
      const VertexId over = aggregation(from, i), under = aggregation(to, i);
      if (from == to)
        paths.push_back(wiring.path({src, up, over, down, dst}, 1.0 / half));
      else
        for (int j = 0; j < half; ++j)
          paths.push_back(wiring.path(
              {src, up, over, core(i, j), under, down, dst}, 1.0 / perPod));
    }
    // The first one is by the destination (D-mod-k), so that those of different
    // pairs are on different switches.
    const int first =
        from == to ? dst % half : dst % half * half + dst / half % half;
    std::rotate(paths.begin(), paths.begin() + first, paths.end());
  }
  return network;
}

namespace {

/// Nodes become servers, what is between them switches.
class Collapsing {
public:
  explicit Collapsing(const plan::Topology &topology) : topology(topology) {}

  Network run(const ServerPairs *only);

private:
  std::vector<LinkId> between(const std::vector<plan::LinkId> &links) const;
  std::vector<Path> pathsOf(int src, int dst) const;

  const plan::Topology &topology;
  std::vector<std::vector<plan::DeviceId>> devices; ///< by node
  std::vector<LinkId> linkOf; ///< by the topology's; -1: inside a node
};

} // namespace

std::vector<LinkId>
Collapsing::between(const std::vector<plan::LinkId> &links) const {
  std::vector<LinkId> result;
  for (plan::LinkId link : links)
    if (linkOf[link] >= 0)
      result.push_back(linkOf[link]);
  return result;
}

/// From each device to the one with the same place in the other node, as rails
/// connect them.
std::vector<Path> Collapsing::pathsOf(int src, int dst) const {
  const size_t count = std::min(devices[src].size(), devices[dst].size());
  std::vector<Path> paths;
  for (size_t d = 0; d < count; ++d) {
    const plan::Route route = topology.route(devices[src][d], devices[dst][d]);
    Path path{between(route.links), 1.0 / static_cast<double>(count)};
    auto same =
        std::find_if(paths.begin(), paths.end(), [&](const Path &other) {
          return other.links == path.links;
        });
    if (same == paths.end())
      paths.push_back(std::move(path));
    else
      same->share += path.share;
  }
  return paths;
}

Network Collapsing::run(const ServerPairs *only) {
  Network network;
  const int nodes = static_cast<int>(topology.nodes().size());
  network.numServers = nodes;
  std::vector<VertexId> vertexOf;
  for (const plan::Vertex &vertex : topology.vertices())
    vertexOf.push_back(vertex.node >= 0 ? vertex.node
                                        : nodes + network.numSwitches++);
  for (const plan::Link &link : topology.links()) {
    const VertexId src = vertexOf[link.src], dst = vertexOf[link.dst];
    linkOf.push_back(src == dst ? -1
                                : static_cast<LinkId>(network.links.size()));
    if (src != dst)
      network.links.push_back({src, dst, link.bandwidth, link.latency, 1});
  }
  devices.resize(nodes);
  for (plan::DeviceId id = 0; id < topology.numDevices(); ++id)
    devices[topology.device(id).node].push_back(id);
  for (auto [src, dst] : pairsOf(nodes, only))
    network.paths[{src, dst}] = pathsOf(src, dst);
  return network;
}

std::optional<Network> ffc::network::networkOf(const plan::Topology &topology,
                                               std::string &error,
                                               const ServerPairs *only) {
  if (topology.nodes().size() < 2) {
    error = topology.name() + ": expected a topology of at least 2 nodes, "
                              "found 1";
    return std::nullopt;
  }
  return Collapsing(topology).run(only);
}
