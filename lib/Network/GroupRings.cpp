//===- GroupRings.cpp - the rings on which a group goes -------------------===//

#include "GroupRings.h"

#include <set>

using namespace ffc::network;

GroupRings::GroupRings(const Network &network) : network(network) {
  for (size_t l = 0; l < network.links.size(); ++l)
    links.emplace(std::pair(network.links[l].src, network.links[l].dst),
                  static_cast<LinkId>(l));
}

/// Nothing if one of the listed rings does not lead round the group.
std::vector<std::vector<RingHop>>
GroupRings::listed(const std::vector<VertexId> &members) const {
  auto entry = network.rings.find(static_cast<int>(members.size()));
  if (entry == network.rings.end())
    return {};
  const std::set<VertexId> group(members.begin(), members.end());
  std::vector<std::vector<RingHop>> rings;
  for (const std::vector<int32_t> &jumps : entry->second) {
    std::vector<RingHop> &ring = rings.emplace_back();
    std::set<VertexId> visited;
    VertexId at = members[0];
    do {
      RingHop hop;
      hop.src = at;
      for (int32_t jump : jumps) {
        const int64_t n = network.numServers;
        const auto to = static_cast<VertexId>(((at + jump) % n + n) % n);
        auto link = links.find({at, to});
        if (link == links.end())
          return {};
        hop.links.push_back(link->second);
        at = to;
      }
      hop.dst = at;
      if (!group.count(at) || !visited.insert(at).second)
        return {};
      ring.push_back(std::move(hop));
    } while (at != members[0]);
    if (visited.size() != members.size())
      return {};
  }
  return rings;
}

std::vector<std::vector<RingHop>>
GroupRings::of(const std::vector<VertexId> &members) const {
  std::vector<std::vector<RingHop>> rings = listed(members);
  if (rings.empty()) {
    rings.emplace_back();
    for (size_t k = 0; k < members.size(); ++k)
      rings[0].push_back({members[k], members[(k + 1) % members.size()], {}});
  }
  return rings;
}
