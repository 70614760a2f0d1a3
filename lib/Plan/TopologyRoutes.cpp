//===- TopologyRoutes.cpp - ways through the topology ---------------------===//

#include "TopologyData.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <queue>
#include <tuple>

using namespace ffc::plan;

static constexpr size_t kMaxKeptBytes = size_t(256) << 20;

RouteTable::~RouteTable() {
  if (trees)
    for (int src = 0; src < numDevices; ++src)
      delete trees[src].load();
}

void RouteTable::build(const std::vector<Vertex> &vertices,
                       const std::vector<Link> &allLinks, int deviceCount) {
  links = &allLinks;
  numDevices = deviceCount;
  first.assign(vertices.size() + 1, 0);
  for (const Link &link : allLinks)
    ++first[link.src + 1];
  for (size_t v = 0; v < vertices.size(); ++v)
    first[v + 1] += first[v];
  leaving.resize(allLinks.size());
  std::vector<int> next(first.begin(), first.end() - 1);
  for (size_t i = 0; i < allLinks.size(); ++i)
    leaving[next[allLinks[i].src]++] = static_cast<LinkId>(i);
  trees.reset(new std::atomic<const RouteTree *>[numDevices]);
  for (int src = 0; src < numDevices; ++src)
    trees[src] = nullptr;
}

/// Dijkstra's algorithm over (latency, links). Among equals the arriving link
/// with the lowest number wins, whatever order vertices are visited in.
std::unique_ptr<RouteTree> RouteTable::compute(DeviceId src) const {
  const size_t numVertices = first.size() - 1;
  constexpr Picoseconds kFar = std::numeric_limits<Picoseconds>::max();
  std::vector<Picoseconds> latency(numVertices, kFar);
  std::vector<int> hops(numVertices, 0);
  std::vector<double> bandwidth(numVertices, 0);
  std::vector<char> settled(numVertices, 0);
  auto tree = std::make_unique<RouteTree>();
  tree->last.assign(numVertices, -1);

  using Entry = std::tuple<Picoseconds, int, int>; // latency, hops, vertex
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  latency[src] = 0;
  bandwidth[src] = std::numeric_limits<double>::infinity();
  queue.push({0, 0, src});
  while (!queue.empty()) {
    const int v = std::get<2>(queue.top());
    queue.pop();
    if (settled[v])
      continue;
    settled[v] = 1;
    // A vertex is settled after all that precede it on a shortest way, because
    // every link adds a hop; so its last link is final by now.
    if (tree->last[v] >= 0) {
      const Link &link = (*links)[tree->last[v]];
      bandwidth[v] = std::min(bandwidth[link.src], link.bandwidth);
    }
    for (int i = first[v]; i < first[v + 1]; ++i) {
      const Link &link = (*links)[leaving[i]];
      const auto reached =
          std::make_pair(latency[v] + link.latency, hops[v] + 1);
      const auto known = std::make_pair(latency[link.dst], hops[link.dst]);
      if (link.dst == src || reached > known)
        continue;
      if (reached < known)
        queue.push({reached.first, reached.second, link.dst});
      else if (leaving[i] > tree->last[link.dst])
        continue;
      std::tie(latency[link.dst], hops[link.dst]) = reached;
      tree->last[link.dst] = leaving[i];
    }
  }
  tree->cost.resize(numDevices);
  for (int dst = 0; dst < numDevices; ++dst)
    tree->cost[dst] = {latency[dst], bandwidth[dst]};
  return tree;
}

template <typename Read>
auto RouteTable::withTree(DeviceId src, Read read) const {
  assert(src >= 0 && src < numDevices && "device outside the topology");
  if (const RouteTree *tree = trees[src].load(std::memory_order_acquire))
    return read(*tree);
  const size_t bytes = sizeof(RouteTree) + numDevices * sizeof(RouteCost) +
                       (first.size() - 1) * sizeof(LinkId);
  if (keptBytes.fetch_add(bytes) + bytes <= kMaxKeptBytes) {
    std::unique_ptr<RouteTree> tree = compute(src);
    const RouteTree *kept = nullptr;
    // Another thread may have been faster; then its tree stays.
    if (trees[src].compare_exchange_strong(kept, tree.get()))
      kept = tree.release();
    else
      keptBytes.fetch_sub(bytes);
    return read(*kept);
  }
  keptBytes.fetch_sub(bytes);
  std::lock_guard<std::mutex> lock(latestMutex);
  if (latestSource != src) {
    latest = compute(src);
    latestSource = src;
  }
  return read(*latest);
}

RouteCost RouteTable::cost(DeviceId src, DeviceId dst) const {
  assert(dst >= 0 && dst < numDevices && "device outside the topology");
  return withTree(src, [&](const RouteTree &tree) { return tree.cost[dst]; });
}

std::vector<LinkId> RouteTable::path(DeviceId src, DeviceId dst) const {
  assert(dst >= 0 && dst < numDevices && "device outside the topology");
  return withTree(src, [&](const RouteTree &tree) {
    std::vector<LinkId> path;
    for (int v = dst; v != src; v = (*links)[tree.last[v]].src)
      path.push_back(tree.last[v]);
    std::reverse(path.begin(), path.end());
    return path;
  });
}

DeviceId RouteTable::firstUnreachable(DeviceId src) const {
  return withTree(src, [&](const RouteTree &tree) {
    for (int dst = 0; dst < numDevices; ++dst)
      if (dst != src && tree.last[dst] < 0)
        return dst;
    return -1;
  });
}
