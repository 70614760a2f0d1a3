//===- SpreadLoads.cpp - loads over all shortest paths --------------------===//

#include "SpreadLoads.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ffc::network;

SpreadLoads::SpreadLoads(int numServers)
    : numServers(numServers), first(numServers + 1), found(numServers),
      hops(numServers), ways(numServers), throughForward(numServers),
      throughBackward(numServers) {}

void SpreadLoads::join(const Pairs &connections, LinkKind kind) {
  const bool twoWay = kind == LinkKind::TwoWay;
  std::fill(first.begin(), first.end(), 0);
  for (auto [a, b] : connections) {
    ++first[a + 1];
    first[b + 1] += twoWay;
  }
  for (int v = 0; v < numServers; ++v)
    first[v + 1] += first[v];
  dst.resize(first.back());
  std::vector<int> &next = hops; // not in use yet
  std::copy(first.begin(), first.end() - 1, next.begin());
  for (auto [a, b] : connections) {
    dst[next[a]++] = b;
    if (twoWay)
      dst[next[b]++] = a;
  }
  forward.assign(dst.size(), 0);
  backward.assign(dst.size(), 0);
}

/// Adds what `src` sends; false if it does not reach all.
bool SpreadLoads::spreadFrom(VertexId src, const PhaseDemand &demand) {
  std::fill(hops.begin(), hops.end(), -1);
  hops[src] = 0;
  ways[src] = 1;
  found[0] = src;
  int count = 1;
  for (int i = 0; i < count; ++i) {
    const VertexId at = found[i];
    for (int link = first[at]; link < first[at + 1]; ++link) {
      const VertexId to = dst[link];
      if (hops[to] < 0) {
        hops[to] = hops[at] + 1;
        ways[to] = 0;
        found[count++] = to;
      }
      if (hops[to] == hops[at] + 1)
        ways[to] += ways[at];
    }
  }
  if (count < numServers)
    return false;
  for (VertexId v = 0; v < numServers; ++v) {
    throughForward[v] = demand.forward.at(src, v);
    throughBackward[v] = demand.backward.at(src, v);
  }
  // From the farthest on, every server's share of what reaches the next ones.
  for (int i = count - 1; i >= 0; --i) {
    const VertexId at = found[i];
    for (int link = first[at]; link < first[at + 1]; ++link) {
      const VertexId to = dst[link];
      if (hops[to] != hops[at] + 1)
        continue;
      const double share = ways[at] / ways[to];
      forward[link] += throughForward[to] * share;
      backward[link] += throughBackward[to] * share;
      throughForward[at] += throughForward[to] * share;
      throughBackward[at] += throughBackward[to] * share;
    }
  }
  return true;
}

/// Between the mean and the largest of `loads`.
static double peakOf(const std::vector<double> &loads) {
  double sum = 0;
  for (double load : loads)
    sum += load;
  if (sum == 0)
    return 0;
  const double mean = sum / double(loads.size());
  double powers = 0;
  for (double load : loads) {
    const double square = load * load / (mean * mean);
    powers += square * square;
  }
  return mean * std::sqrt(std::sqrt(powers / double(loads.size())));
}

double SpreadLoads::cost(const Pairs &connections, LinkKind kind,
                         const PhaseDemand &demand) {
  join(connections, kind);
  for (VertexId src = 0; src < numServers; ++src)
    if (!spreadFrom(src, demand))
      return std::numeric_limits<double>::infinity();
  return peakOf(forward) + peakOf(backward);
}
