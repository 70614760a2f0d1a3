//===- TopologyRoutes.cpp - routes through the topology -------------------===//

#include "TopologyRoutes.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>

using namespace ffc::plan;

static constexpr size_t kMaxKeptBytes = size_t(1) << 30;
static_assert(kMaxDevices <= 1 << 16,
              "costs of a tree are numbered in 16 bits");

size_t RouteTree::bytes() const {
  return sizeof(RouteTree) + costs.capacity() * sizeof(RouteCost) +
         costOf.capacity() * sizeof(uint16_t) +
         last.capacity() * sizeof(LinkId);
}

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
  struct Reached {
    Picoseconds latency = kFar;
    double bandwidth = 0;
    int hops = 0;
    bool settled = false;
  };
  std::vector<Reached> reached(numVertices);
  auto tree = std::make_unique<RouteTree>();
  tree->last.assign(numVertices, -1);

  // What is as far has a place of its own in the queue: in a regular network,
  // where few distances differ, that is faster than a heap.
  std::map<std::pair<Picoseconds, int>, std::vector<int>> queue;
  auto setBandwidth = [&](int v) {
    if (tree->last[v] < 0)
      return;
    const Link &link = (*links)[tree->last[v]];
    reached[v].bandwidth =
        std::min(reached[link.src].bandwidth, link.bandwidth);
  };
  // Ways do not lead on from a vertex whose only link goes where they have
  // been: of most devices that is so, and it spares them the queue.
  auto isEnd = [&](int v) {
    return first[v + 1] - first[v] == 1 &&
           reached[(*links)[leaving[first[v]]].dst].settled;
  };

  reached[src].latency = 0;
  reached[src].bandwidth = std::numeric_limits<double>::infinity();
  queue[{0, 0}].push_back(src);
  while (!queue.empty()) {
    auto nearest = queue.begin();
    if (nearest->second.empty()) {
      queue.erase(nearest);
      continue;
    }
    const int v = nearest->second.back();
    nearest->second.pop_back();
    Reached &from = reached[v];
    if (from.settled)
      continue;
    from.settled = true;
    // A vertex is settled after all that precede it on a shortest way, because
    // every link adds a hop; so its last link is final by now.
    setBandwidth(v);
    for (int i = first[v]; i < first[v + 1]; ++i) {
      const Link &link = (*links)[leaving[i]];
      Reached &to = reached[link.dst];
      const Picoseconds latency = from.latency + link.latency;
      const int hops = from.hops + 1;
      if (to.settled || latency > to.latency ||
          (latency == to.latency && hops > to.hops))
        continue;
      if (latency < to.latency || hops < to.hops) {
        if (!isEnd(link.dst))
          queue[{latency, hops}].push_back(link.dst);
      } else if (leaving[i] > tree->last[link.dst]) {
        continue;
      }
      to.latency = latency;
      to.hops = hops;
      tree->last[link.dst] = leaving[i];
    }
  }

  for (int dst = 0; dst < numDevices; ++dst)
    if (!reached[dst].settled)
      setBandwidth(dst);

  std::map<std::pair<Picoseconds, double>, uint16_t> numbers;
  tree->costOf.resize(numDevices);
  for (int dst = 0; dst < numDevices; ++dst) {
    const RouteCost cost{reached[dst].latency, reached[dst].bandwidth};
    // Neighbours mostly have the same cost.
    if (dst > 0 && tree->cost(dst - 1).latency == cost.latency &&
        tree->cost(dst - 1).bandwidth == cost.bandwidth) {
      tree->costOf[dst] = tree->costOf[dst - 1];
      continue;
    }
    auto [found, inserted] =
        numbers.emplace(std::make_pair(cost.latency, cost.bandwidth),
                        static_cast<uint16_t>(tree->costs.size()));
    if (inserted)
      tree->costs.push_back(cost);
    tree->costOf[dst] = found->second;
  }
  return tree;
}

template <typename Read>
auto RouteTable::withTree(DeviceId src, Read read) const {
  assert(src >= 0 && src < numDevices && "device outside the topology");
  if (const RouteTree *tree = trees[src].load(std::memory_order_acquire))
    return read(*tree);
  if (keptBytes < kMaxKeptBytes) {
    std::unique_ptr<RouteTree> tree = compute(src);
    const RouteTree *kept = nullptr;
    // Another thread may have been faster; then its tree stays.
    if (trees[src].compare_exchange_strong(kept, tree.get())) {
      kept = tree.release();
      keptBytes += kept->bytes();
    }
    return read(*kept);
  }
  std::lock_guard<std::mutex> lock(latestMutex);
  if (latestSource != src) {
    latest = compute(src);
    latestSource = src;
  }
  return read(*latest);
}

RouteCost RouteTable::cost(DeviceId src, DeviceId dst) const {
  assert(dst >= 0 && dst < numDevices && "device outside the topology");
  return withTree(src, [&](const RouteTree &tree) { return tree.cost(dst); });
}

template <typename Visitor>
void RouteTable::eachLink(DeviceId src, int dst, Visitor visit) const {
  assert(dst >= 0 && size_t(dst) + 1 < first.size() &&
         "vertex outside the topology");
  withTree(src, [&](const RouteTree &tree) {
    for (int v = dst; v != src; v = (*links)[tree.last[v]].src)
      visit(tree.last[v]);
    return 0;
  });
}

void RouteTable::appendLinks(DeviceId src, int dst,
                             std::vector<LinkId> &way) const {
  eachLink(src, dst, [&](LinkId link) { way.push_back(link); });
}

void RouteTable::appendLinks(
    DeviceId src, int dst, std::vector<std::pair<LinkId, double>> &way) const {
  eachLink(src, dst, [&](LinkId link) { way.push_back({link, 1.0}); });
}

RouteTable::Distance RouteTable::distance(DeviceId src, int vertex) const {
  return withTree(src, [&](const RouteTree &tree) {
    if (vertex != src && tree.last[vertex] < 0)
      return Distance();
    Distance distance{0, 0};
    for (int v = vertex; v != src; v = (*links)[tree.last[v]].src) {
      distance.latency += (*links)[tree.last[v]].latency;
      ++distance.hops;
    }
    return distance;
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
