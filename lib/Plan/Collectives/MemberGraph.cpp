//===- MemberGraph.cpp - how the members of a group are joined ------------===//

#include "MemberGraph.h"

#include "DirectWays.h"

#include <algorithm>
#include <map>

using namespace ffc::plan;

MemberGraph::MemberGraph(const Topology &topology,
                         const std::vector<DeviceId> &devices)
    : members(static_cast<int>(devices.size())) {
  std::map<int, int> nodeNumbers;
  for (DeviceId device : devices) {
    launches.push_back(topology.kindOf(device).launch);
    nodeOf.push_back(nodeNumbers
                         .try_emplace(topology.device(device).node,
                                      static_cast<int>(nodeNumbers.size()))
                         .first->second);
  }
  std::map<LinkId, int> numbers;
  const auto wayOf = [&](const Route &route, DeviceId from) {
    Way way;
    way.latency = route.latency + topology.kindOf(from).messageStart();
    way.bandwidth = route.bandwidth;
    for (LinkId id : route.links) {
      auto [at, isNew] =
          numbers.try_emplace(id, static_cast<int>(linkBandwidths.size()));
      if (isNew) {
        linkBandwidths.push_back(topology.links()[id].bandwidth);
        linkIds.push_back(id);
      }
      way.links.push_back(at->second);
    }
    return way;
  };
  const DirectWays directWays(topology, devices);
  ways.resize(devices.size() * devices.size());
  direct.resize(ways.size());
  for (int src = 0; src < members; ++src)
    for (int dst = 0; dst < members; ++dst) {
      if (src == dst)
        continue;
      ways[index(src, dst)] =
          wayOf(topology.route(devices[src], devices[dst]), devices[src]);
      direct[index(src, dst)] = wayOf(directWays.way(src, dst), devices[src]);
      if (areNeighbours(src, dst))
        neighbours.push_back({src, dst});
    }
}

MemberGraph MemberGraph::withDirectWays() const {
  MemberGraph result = *this;
  for (const Edge &edge : neighbours)
    result.ways[index(edge.src, edge.dst)] = direct[index(edge.src, edge.dst)];
  return result;
}

MemberGraph MemberGraph::transposed() const {
  MemberGraph result = *this;
  const auto turn = [&](std::vector<Way> &to, const std::vector<Way> &from) {
    for (int src = 0; src < members; ++src)
      for (int dst = 0; dst < members; ++dst) {
        to[index(src, dst)] = from[index(dst, src)];
        std::vector<int> &links = to[index(src, dst)].links;
        std::reverse(links.begin(), links.end());
      }
  };
  turn(result.ways, ways);
  turn(result.direct, direct);
  for (Edge &edge : result.neighbours)
    std::swap(edge.src, edge.dst);
  return result;
}

bool MemberGraph::isSymmetric() const {
  for (int src = 0; src < members; ++src)
    for (int dst = 0; dst < src; ++dst) {
      const Way &there = way(src, dst), &back = way(dst, src);
      if (there.latency != back.latency || there.bandwidth != back.bandwidth ||
          there.links.size() != back.links.size())
        return false;
    }
  return true;
}

std::vector<double> MemberGraph::ownBandwidths() const {
  std::vector<int> users(linkBandwidths.size());
  for (const Edge &edge : neighbours)
    for (int link : way(edge.src, edge.dst).links)
      ++users[link];
  std::vector<double> own, sums(linkBandwidths.size());
  for (const Edge &edge : neighbours) {
    double bandwidth = 0;
    for (int link : way(edge.src, edge.dst).links)
      if (users[link] == 1)
        bandwidth = bandwidth == 0 ? linkBandwidths[link]
                                   : std::min(bandwidth, linkBandwidths[link]);
    if (bandwidth == 0)
      return {};
    own.push_back(bandwidth);
    for (int link : way(edge.src, edge.dst).links)
      sums[link] += bandwidth;
  }
  constexpr double kRounding = 1 + 1e-9;
  for (size_t link = 0; link < sums.size(); ++link)
    if (sums[link] > linkBandwidths[link] * kRounding)
      return {};
  return own;
}
