//===- Wiring.cpp - connections and what they carry -----------------------===//

#include "ffc/Network/Wiring.h"

#include <algorithm>
#include <map>

using namespace ffc::network;

/// How many servers server 0 reaches, or, backwards, is reached from.
static int reached(const Wiring &wiring, bool backwards) {
  std::vector<std::vector<VertexId>> next(wiring.numServers);
  for (auto [a, b] : wiring.connections) {
    if (!backwards || wiring.kind == LinkKind::TwoWay)
      next[a].push_back(b);
    if (backwards || wiring.kind == LinkKind::TwoWay)
      next[b].push_back(a);
  }
  std::vector<bool> seen(wiring.numServers);
  std::vector<VertexId> found = {0};
  seen[0] = true;
  for (size_t i = 0; i < found.size(); ++i)
    for (VertexId to : next[found[i]])
      if (!seen[to]) {
        seen[to] = true;
        found.push_back(to);
      }
  return static_cast<int>(found.size());
}

bool ffc::network::isConnected(const Wiring &wiring) {
  return reached(wiring, false) == wiring.numServers &&
         reached(wiring, true) == wiring.numServers;
}

int ffc::network::degreeOf(const Wiring &wiring) {
  std::vector<int> sending(wiring.numServers), receiving(wiring.numServers);
  for (auto [a, b] : wiring.connections) {
    ++sending[a];
    ++(wiring.kind == LinkKind::TwoWay ? sending : receiving)[b];
  }
  return std::max(*std::max_element(sending.begin(), sending.end()),
                  *std::max_element(receiving.begin(), receiving.end()));
}

PhaseDemand ffc::network::demandOf(const Traffic &traffic,
                                   const std::vector<RingOrders> &rings) {
  PhaseDemand demand = {traffic.forward, traffic.backward, traffic.messages};
  for (size_t g = 0; g < rings.size(); ++g) {
    const AllReduceGroup &group = traffic.groups[g];
    const double sent = group.sentOnRing(static_cast<int>(rings[g].size()));
    const double messages =
        2.0 * double(group.members.size() - 1) * double(group.tensors.size());
    for (const std::vector<VertexId> &ring : rings[g])
      for (size_t i = 0; i < ring.size(); ++i) {
        const VertexId next = ring[(i + 1) % ring.size()];
        demand.backward.at(ring[i], next) += sent;
        demand.messages.at(ring[i], next) += messages;
      }
  }
  return demand;
}

Network ffc::network::linksOf(const Wiring &wiring, double bandwidth,
                              Picoseconds latency) {
  std::map<std::pair<VertexId, VertexId>, int> interfaces;
  for (auto [a, b] : wiring.connections) {
    ++interfaces[{a, b}];
    if (wiring.kind == LinkKind::TwoWay)
      ++interfaces[{b, a}];
  }
  Network network;
  network.numServers = wiring.numServers;
  for (const auto &[ends, count] : interfaces)
    network.links.push_back(
        {ends.first, ends.second, bandwidth * count, latency, count});
  return network;
}

PeakLoad ffc::network::peakLoadOf(const Network &network,
                                  const PhaseDemand &demand) {
  std::vector<double> forward(network.links.size()), backward = forward;
  for (const auto &[ends, paths] : network.paths)
    for (const Path &path : paths)
      for (LinkId link : path.links) {
        const double share = path.share / network.links[link].interfaces;
        forward[link] += share * demand.forward.at(ends.first, ends.second);
        backward[link] += share * demand.backward.at(ends.first, ends.second);
      }
  PeakLoad peak;
  for (size_t link = 0; link < forward.size(); ++link) {
    peak.forward = std::max(peak.forward, forward[link]);
    peak.backward = std::max(peak.backward, backward[link]);
    peak.both = std::max(peak.both, forward[link] + backward[link]);
  }
  return peak;
}
