//===- TopoOptWiring.cpp - rings by strides, then matchings ---------------===//

#include "ffc/Network/TopoOptWiring.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace ffc::network;

namespace {

class TopoOptRules {
public:
  TopoOptRules(const Traffic &traffic, int degree, LinkKind kind,
               StrideRule rule, uint64_t seed)
      : traffic(traffic), degree(degree), rule(rule), seed(seed),
        left(traffic.numServers, degree) {
    result.wiring.numServers = traffic.numServers;
    result.wiring.kind = kind;
    result.wiring.rings.resize(traffic.groups.size());
  }

  StridedWiring run();

private:
  bool twoWay() const { return result.wiring.kind == LinkKind::TwoWay; }
  int interfacesOfRing(size_t members) const {
    return twoWay() && members > 2 ? 2 : 1;
  }
  int interfacesOfAllReduces() const;
  std::vector<int> select(int members, int count) const;
  std::vector<int> addRings(std::vector<VertexId> members, int count,
                            RingOrders *rings);
  void addGroups();
  void addMatchings();
  void addRingsOverPaths();

  const Traffic &traffic;
  int degree;
  StrideRule rule;
  uint64_t seed;
  std::vector<int> left; ///< interfaces by server
  StridedWiring result;
};

} // namespace

/// Of each server, by what all servers send.
int TopoOptRules::interfacesOfAllReduces() const {
  double allReduces = 0, transfers = 0;
  for (const AllReduceGroup &group : traffic.groups)
    allReduces += group.sentByEach() * double(group.members.size());
  for (const Demand *demand : {&traffic.forward, &traffic.backward})
    transfers +=
        std::accumulate(demand->values.begin(), demand->values.end(), 0.0);
  if (allReduces == 0)
    return 0;
  return static_cast<int>(
      std::ceil(degree * allReduces / (allReduces + transfers)));
}

/// As many strides as asked for: if there are fewer, some are doubled.
std::vector<int> TopoOptRules::select(int members, int count) const {
  const LinkKind kind = result.wiring.kind;
  const std::vector<int> candidates = ringStrides(members, members);
  std::vector<int> strides;
  if (rule == StrideRule::Released)
    strides = releasedStrides(candidates, count, kind).value_or(strides);
  else if (rule == StrideRule::Best)
    strides = bestStrides(members, count, kind, seed).strides;
  if (strides.empty())
    strides = geometricStrides(candidates, members, count);
  const size_t different = strides.size();
  while (int(strides.size()) < count)
    strides.push_back(strides[strides.size() - different]);
  return strides;
}

/// Returns the strides of the rings.
std::vector<int> TopoOptRules::addRings(std::vector<VertexId> members,
                                        int count, RingOrders *rings) {
  std::sort(members.begin(), members.end());
  const size_t size = members.size();
  const std::vector<int> strides = select(static_cast<int>(size), count);
  for (int stride : strides) {
    std::vector<VertexId> order;
    for (size_t i = 0; i < size; ++i)
      order.push_back(members[i * stride % size]);
    const bool single = twoWay() && size == 2;
    for (size_t i = 0; i + single < size; ++i)
      result.wiring.connections.push_back({order[i], order[(i + 1) % size]});
    for (VertexId v : order)
      left[v] -= interfacesOfRing(size);
    if (!rings)
      continue;
    rings->push_back(order);
    if (twoWay() && size > 2)
      rings->emplace_back(order.rbegin(), order.rend());
  }
  return strides;
}

void TopoOptRules::addGroups() {
  const int n = traffic.numServers;
  std::vector<size_t> order(traffic.groups.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return traffic.groups[a].sentByEach() > traffic.groups[b].sentByEach();
  });
  auto spans = [&](const AllReduceGroup &group) {
    return int(group.members.size()) == n;
  };
  std::vector<double> sent(n); // of all groups of a server
  for (const AllReduceGroup &group : traffic.groups)
    for (VertexId v : group.members)
      sent[v] += group.sentByEach();

  const int ofAll = interfacesOfAllReduces();
  std::vector<int> budget(n, ofAll);
  int reserved = 0;
  const bool spanned =
      std::any_of(traffic.groups.begin(), traffic.groups.end(), spans);
  // The ring that everybody is in goes first, whoever it is for.
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t g) { return spans(traffic.groups[g]); });
  std::vector<int> strides;
  if (!spanned && interfacesOfRing(size_t(n)) <= degree) {
    std::vector<VertexId> all(n);
    std::iota(all.begin(), all.end(), 0);
    strides = addRings(all, 1, nullptr);
    reserved = interfacesOfRing(size_t(n));
  }
  for (int &interfaces : budget)
    interfaces = std::min(interfaces, degree - reserved);
  for (size_t g : order) {
    const AllReduceGroup &group = traffic.groups[g];
    const int ofOne = interfacesOfRing(group.members.size());
    double share = 1;
    int free = degree;
    for (VertexId v : group.members) {
      share = std::min(share, sent[v] > 0 ? group.sentByEach() / sent[v] : 0);
      free = std::min({free, left[v], std::max(budget[v], ofOne)});
    }
    int count =
        std::min(static_cast<int>(std::ceil(ofAll * share - 1e-9)), free) /
        ofOne;
    if (spans(group) && strides.empty())
      count = std::max(count, std::min(1, free / ofOne));
    if (count == 0)
      continue;
    const std::vector<int> chosen =
        addRings(group.members, count, &result.wiring.rings[g]);
    for (VertexId v : group.members)
      budget[v] -= count * ofOne;
    if (spans(group))
      strides.insert(strides.end(), chosen.begin(), chosen.end());
  }
  result.coins = coinsOf(strides, n, result.wiring.kind);
}

void TopoOptRules::addMatchings() {
  Demand demand = traffic.forward;
  for (size_t i = 0; i < demand.values.size(); ++i)
    demand.values[i] += traffic.backward.values[i];
  for (;;) {
    std::vector<int> members;
    for (int v = 0; v < traffic.numServers; ++v)
      if (left[v] > 0)
        members.push_back(v);
    if (members.size() < 2)
      return;
    // Pairs that send nothing are joined, too: others' paths lead past them.
    for (auto [a, b] : heaviestMatching(demand, members, result.wiring.kind)) {
      result.wiring.connections.push_back({a, b});
      --left[a];
      demand.at(a, b) /= 2;
      if (twoWay()) {
        --left[b];
        demand.at(b, a) /= 2;
      }
    }
  }
}

static Demand hopsBetween(const Network &network) {
  Demand hops(network.numServers);
  for (const auto &[ends, paths] : network.paths)
    hops.at(ends.first, ends.second) = double(paths.front().links.size());
  return hops;
}

/// Groups without links of their own go on those of their rings by strides that
/// take the fewest hops.
void TopoOptRules::addRingsOverPaths() {
  Network network = linksOf(result.wiring, 1, 0);
  addCoinPaths(network, result.coins, seed);
  const Demand hops = hopsBetween(network);
  for (size_t g = 0; g < traffic.groups.size(); ++g) {
    RingOrders &rings = result.wiring.rings[g];
    if (!rings.empty())
      continue;
    std::vector<VertexId> members = traffic.groups[g].members;
    std::sort(members.begin(), members.end());
    const size_t size = members.size();
    double fewest = 0;
    for (int stride : ringStrides(int(size), int(size))) {
      std::vector<VertexId> order;
      double sum = 0;
      for (size_t i = 0; i < size; ++i) {
        order.push_back(members[i * stride % size]);
        sum += hops.at(order[i], members[(i + 1) * stride % size]);
      }
      if (!rings.empty() && sum > fewest)
        continue;
      if (sum < fewest)
        rings.clear();
      fewest = sum;
      if (int(rings.size()) < degree)
        rings.push_back(order);
    }
  }
}

StridedWiring TopoOptRules::run() {
  addGroups();
  addMatchings();
  addRingsOverPaths();
  return std::move(result);
}

StridedWiring ffc::network::topoOptWiring(const Traffic &traffic, int degree,
                                          LinkKind kind, StrideRule rule,
                                          uint64_t seed) {
  return TopoOptRules(traffic, degree, kind, rule, seed).run();
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

namespace {

/// Finds shortest paths, ties by chance.
class PathFinder {
public:
  PathFinder(const Network &network, uint64_t seed)
      : network(network), leaving(network.numServers),
        entering(network.numServers), random(seed) {
    for (size_t link = 0; link < network.links.size(); ++link) {
      leaving[network.links[link].src].push_back(static_cast<LinkId>(link));
      entering[network.links[link].dst].push_back(static_cast<LinkId>(link));
    }
  }

  /// Hops from `src`, by server; -1: not reached.
  std::vector<int> hopsFrom(VertexId src) const;
  /// `hops` are those from `src`, which reaches `dst`.
  std::vector<LinkId> path(VertexId src, VertexId dst,
                           const std::vector<int> &hops);

private:
  const Network &network;
  std::vector<std::vector<LinkId>> leaving, entering; ///< links by server
  std::mt19937_64 random;
};

} // namespace

std::vector<int> PathFinder::hopsFrom(VertexId src) const {
  std::vector<int> hops(network.numServers, -1);
  hops[src] = 0;
  std::vector<VertexId> found = {src};
  for (size_t i = 0; i < found.size(); ++i)
    for (LinkId link : leaving[found[i]]) {
      const VertexId to = network.links[link].dst;
      if (hops[to] < 0) {
        hops[to] = hops[found[i]] + 1;
        found.push_back(to);
      }
    }
  return hops;
}

std::vector<LinkId> PathFinder::path(VertexId src, VertexId dst,
                                     const std::vector<int> &hops) {
  std::vector<LinkId> links;
  for (VertexId at = dst; at != src; at = network.links[links.back()].src) {
    std::vector<LinkId> last;
    for (LinkId link : entering[at])
      if (hops[network.links[link].src] == hops[at] - 1)
        last.push_back(link);
    links.push_back(last[random() % last.size()]);
  }
  std::reverse(links.begin(), links.end());
  return links;
}

void ffc::network::addCoinPaths(Network &network, const std::vector<int> &coins,
                                uint64_t seed) {
  const int n = network.numServers;
  std::map<std::pair<VertexId, VertexId>, LinkId> linkOf;
  for (size_t link = 0; link < network.links.size(); ++link)
    linkOf[{network.links[link].src, network.links[link].dst}] =
        static_cast<LinkId>(link);
  PathFinder finder(network, seed);
  const CoinChange change = changeCoins(n, coins);
  for (VertexId src = 0; src < n; ++src) {
    const std::vector<int> hops = finder.hopsFrom(src);
    for (VertexId dst = 0; dst < n; ++dst) {
      if (src == dst || hops[dst] < 0)
        continue;
      const int distance = (dst - src + n) % n;
      std::vector<LinkId> links;
      if (change.hops[distance] != hops[dst]) {
        links = finder.path(src, dst, hops);
      } else {
        VertexId at = src;
        for (int coin : change.coins[distance]) {
          const VertexId to = (at + coin) % n;
          links.push_back(linkOf.at({at, to}));
          at = to;
        }
      }
      network.paths[{src, dst}] = {{links, 1.0}};
    }
  }
}
