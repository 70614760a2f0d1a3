//===- Network.cpp - is a network whole? ----------------------------------===//

#include "ffc/Network/Network.h"

#include <cmath>
#include <set>

using namespace ffc::network;

static std::string pairOf(VertexId src, VertexId dst) {
  return std::to_string(src) + " to " + std::to_string(dst);
}

static std::string faultOfLinks(const Network &network) {
  auto exists = [&](VertexId v) { return v >= 0 && v < network.numVertices(); };
  for (const Link &link : network.links) {
    if (!exists(link.src) || !exists(link.dst) || link.src == link.dst)
      return "expected a link between two of " +
             std::to_string(network.numVertices()) + " vertices, found " +
             pairOf(link.src, link.dst);
    if (!(link.bandwidth > 0) || link.latency < 0 || link.interfaces < 1)
      return "expected a link with bandwidth, latency and interfaces, found "
             "none from " +
             pairOf(link.src, link.dst);
  }
  return "";
}

/// `path` leads from `src` to `dst`.
static bool leads(const Network &network, const Path &path, VertexId src,
                  VertexId dst) {
  VertexId at = src;
  for (LinkId id : path.links) {
    if (id < 0 || static_cast<size_t>(id) >= network.links.size() ||
        network.links[id].src != at)
      return false;
    at = network.links[id].dst;
  }
  return !path.links.empty() && at == dst;
}

static std::string faultOfPaths(const Network &network) {
  for (const auto &[ends, paths] : network.paths) {
    const auto [src, dst] = ends;
    if (src < 0 || dst < 0 || src >= network.numServers ||
        dst >= network.numServers || src == dst)
      return "expected paths between two of " +
             std::to_string(network.numServers) + " servers, found " +
             pairOf(src, dst);
    double shares = 0;
    for (const Path &path : paths) {
      if (!leads(network, path, src, dst))
        return "expected links that follow each other, found a path from " +
               pairOf(src, dst) + " that breaks off";
      if (!(path.share > 0))
        return "expected paths with a share of what is sent, found none from " +
               pairOf(src, dst);
      shares += path.share;
    }
    if (std::abs(shares - 1) > 1e-6)
      return "expected shares that add up to 1, found " +
             std::to_string(shares) + " from " + pairOf(src, dst);
  }
  return "";
}

static std::string faultOfRings(const Network &network) {
  std::set<std::pair<VertexId, VertexId>> joined;
  for (const Link &link : network.links)
    joined.insert({link.src, link.dst});
  const int n = network.numServers;
  for (const auto &[members, rings] : network.rings)
    for (const std::vector<int32_t> &jumps : rings)
      for (VertexId start = 0; start < n; ++start) {
        VertexId at = start;
        for (int32_t jump : jumps) {
          const VertexId to = ((at + jump) % n + n) % n;
          if (!joined.count({at, to}))
            return "expected a link for every jump of a ring of " +
                   std::to_string(members) + ", found none from " +
                   pairOf(at, to);
          at = to;
        }
      }
  return "";
}

std::string ffc::network::faultOf(const Network &network) {
  for (auto find : {faultOfLinks, faultOfPaths, faultOfRings})
    if (std::string fault = find(network); !fault.empty())
      return fault;
  return "";
}
