//===- KnownNetworks.cpp - switches, trees, graphs by chance --------------===//

#include "ffc/Network/KnownNetworks.h"

#include "ffc/Network/NetworkBuilder.h"
#include "ffc/Network/TopoOptWiring.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace ffc::network;

/// Every group goes on one ring, in its own order.
static std::vector<RingOrders> ownOrders(const Traffic &traffic) {
  std::vector<RingOrders> rings;
  for (const AllReduceGroup &group : traffic.groups)
    rings.push_back({group.members});
  return rings;
}

/// Of a server's way through three tiers: at its own interface, and at both
/// ends of two cables and at one of its own.
constexpr double kFatTreePortsOfServer = 6;

static Network fatTree(int servers, const Interface &interface) {
  int ports = 2;
  while (ports * ports * ports / 4 < servers)
    ports += 2;
  std::string error;
  return *makeFatTree(ports, servers, interface, error);
}

/// Rounds of servers in a random order: neighbours are joined, as pairs or,
/// with one-way links, in a cycle.
static Wiring wiringByChance(int servers, int degree, LinkKind kind,
                             uint64_t seed) {
  Wiring wiring;
  wiring.numServers = servers;
  wiring.kind = kind;
  std::mt19937_64 random(seed);
  std::vector<VertexId> order(servers);
  std::iota(order.begin(), order.end(), 0);
  const bool twoWay = kind == LinkKind::TwoWay;
  // Two rounds of two-way links are a cycle: that connects all servers.
  for (int left = degree; left > 0;) {
    std::shuffle(order.begin(), order.end(), random);
    const bool pairs = twoWay && (left == 1 || servers == 2);
    for (int i = 0; i + (pairs ? 1 : 0) < servers; i += pairs ? 2 : 1)
      wiring.connections.push_back({order[i], order[(i + 1) % servers]});
    left -= twoWay && !pairs ? 2 : 1;
  }
  return wiring;
}

static KnownNetwork expander(const Traffic &traffic,
                             const TopologySearchOptions &options) {
  KnownNetwork known = {"expander", {}, ownOrders(traffic)};
  known.network = linksOf(wiringByChance(traffic.numServers, options.degree,
                                         options.kind, options.seed),
                          options.bandwidth, options.latency);
  addBalancedPaths(known.network, demandOf(traffic, known.rings));
  return known;
}

static KnownNetwork fullMesh(const Traffic &traffic,
                             const TopologySearchOptions &options) {
  const int n = traffic.numServers;
  KnownNetwork known = {"full mesh", {}, {}};
  Wiring wiring;
  wiring.numServers = n;
  for (VertexId a = 0; a < n; ++a)
    for (VertexId b = a + 1; b < n; ++b)
      wiring.connections.push_back({a, b});
  for (const AllReduceGroup &group : traffic.groups) {
    const size_t size = group.members.size();
    RingOrders rings;
    for (int stride : ringStrides(int(size), int(size))) {
      rings.emplace_back();
      for (size_t i = 0; i < size; ++i)
        rings.back().push_back(group.members[i * stride % size]);
    }
    known.rings.push_back(std::move(rings));
  }
  known.network = linksOf(wiring, options.bandwidth * options.degree / (n - 1),
                          options.latency);
  addBalancedPaths(known.network, demandOf(traffic, known.rings));
  return known;
}

std::vector<KnownNetwork>
ffc::network::knownNetworks(const Traffic &traffic,
                            const TopologySearchOptions &options) {
  const int n = traffic.numServers;
  std::vector<KnownNetwork> known;
  known.push_back(
      {"switch, all interfaces as one",
       makeSwitch(n, {options.bandwidth * options.degree, options.latency}),
       ownOrders(traffic)});
  known.push_back({"fat tree, one interface",
                   fatTree(n, {options.bandwidth, options.latency}),
                   ownOrders(traffic)});
  known.push_back(
      {"fat tree of equal cost",
       fatTree(n, {options.bandwidth * options.degree / kFatTreePortsOfServer,
                   options.latency}),
       ownOrders(traffic)});
  const KnownNetwork byChance = expander(traffic, options);
  if (int(byChance.network.paths.size()) == n * (n - 1))
    known.push_back(byChance);
  known.push_back(fullMesh(traffic, options));
  for (const auto &[name, rule] :
       {std::pair("TopoOpt's rules", TopologyRule::TopoOpt),
        std::pair("TopoOpt's rules, strides of the paper",
                  TopologyRule::Paper)}) {
    TopologySearchOptions byRule = options;
    byRule.rule = rule;
    if (auto found = searchTopology(
            traffic, byRule, [](const Network &, const auto &) { return 1; }))
      known.push_back({name, found->network, found->rings});
  }
  return known;
}
