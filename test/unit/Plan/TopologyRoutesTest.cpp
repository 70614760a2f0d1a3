//===- TopologyRoutesTest.cpp - stated routes and spread messages ---------===//

#include "ffc/Plan/Cost.h"

#include "TestTopology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace ffc::plan;
using ffc::plan::testing::errorOf;
using ffc::plan::testing::parse;

namespace {

constexpr Picoseconds kMicrosecond = 1'000'000;

/// Four nodes of two devices and one NIC in a ring.
const std::string kRing = R"(
nodes:
  count: 4
  devices: 2 x h200
  interconnect: {type: switch, bandwidth: 400 GB/s, latency: 2 us}
  nic: {count: 1, bandwidth: 100 GB/s, latency: 1 us}
  network: {type: ring, bandwidth: 25 GB/s, latency: 1 us}
)";

/// Two pairs of devices with two switches in the middle.
const std::string kDiamond = R"(
devices:
  - {name: a, kind: p100}
  - {name: b, kind: p100}
  - {name: c, kind: p100}
  - {name: d, kind: p100}
switches: [{name: s}, {name: l}, {name: r}, {name: t}]
links:
  - {between: [a, s], bandwidth: 2 GB/s, latency: 1 us}
  - {between: [b, s], bandwidth: 2 GB/s, latency: 1 us}
  - {between: [s, l], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [s, r], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [l, t], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [r, t], bandwidth: 1 GB/s, latency: 1 us}
  - {between: [t, c], bandwidth: 2 GB/s, latency: 1 us}
  - {between: [t, d], bandwidth: 2 GB/s, latency: 1 us}
)";

using Names = std::vector<std::string>;

Names namesOf(const Topology &topology, const Route &route) {
  Names names;
  for (LinkId link : route.links)
    names.push_back(topology.vertices()[topology.links()[link].dst].name);
  return names;
}

using Loads = std::map<LinkId, double>;

Loads loadsOf(const Topology &topology, DeviceId src, DeviceId dst) {
  std::vector<std::pair<LinkId, double>> loads;
  topology.appendLoads(src, dst, loads);
  const Loads byLink(loads.begin(), loads.end());
  EXPECT_EQ(byLink.size(), loads.size()) << "a link appears twice";
  return byLink;
}

/// All ways lead from `src` to `dst`, their shares add up to 1 and load links
/// as appendLoads says; route() is the widest.
void expectWays(const Topology &topology, DeviceId src, DeviceId dst) {
  Loads loads;
  double shares = 0;
  for (const SharedRoute &route : topology.routes(src, dst)) {
    shares += route.share;
    int at = src;
    RouteCost cost{0, src == dst ? route.bandwidth : HUGE_VAL};
    for (LinkId id : route.links) {
      const Link &link = topology.links()[id];
      ASSERT_EQ(link.src, at);
      at = link.dst;
      cost.latency += link.latency;
      cost.bandwidth = std::min(cost.bandwidth, link.bandwidth);
      loads[id] += route.share;
    }
    ASSERT_EQ(at, dst);
    EXPECT_EQ(route.latency, cost.latency);
    EXPECT_EQ(route.bandwidth, cost.bandwidth);
  }
  EXPECT_NEAR(shares, 1, 1e-9);
  const Loads expected = loadsOf(topology, src, dst);
  ASSERT_EQ(loads.size(), expected.size());
  for (auto [link, load] : expected)
    EXPECT_NEAR(loads[link], load, 1e-9);
  const Route route = topology.route(src, dst);
  EXPECT_EQ(route.latency, topology.routeCost(src, dst).latency);
  EXPECT_EQ(route.bandwidth, topology.routeCost(src, dst).bandwidth);
  std::vector<LinkId> links;
  topology.appendLinks(src, dst, links);
  std::vector<LinkId> travelled = route.links;
  std::sort(links.begin(), links.end());
  std::sort(travelled.begin(), travelled.end());
  EXPECT_EQ(links, travelled);
}

//===----------------------------------------------------------------------===//
// Stated routes
//===----------------------------------------------------------------------===//

TEST(TopologyRoutes, OfDevices) {
  const Topology topology = parse(kDiamond + R"(
routes:
  - {from: a, to: c, via: [s, r, t]}
  - from: a
    to: d
    paths:
      - {via: [s, l, t], share: 0.25}
      - {via: [s, r, t], share: 0.75}
  - {from: b, to: d, paths: [{via: [s, r, t]}, {via: [s, l, t]}]}
)");
  EXPECT_TRUE(topology.hasSharedRoutes());
  EXPECT_EQ(namesOf(topology, topology.route(0, 2)),
            (Names{"s", "r", "t", "c"}));
  EXPECT_EQ(topology.routeCost(0, 2).latency, 4 * kMicrosecond);
  EXPECT_EQ(topology.routeCost(0, 2).bandwidth, 1e9);
  // The largest share, and of equals the first.
  EXPECT_EQ(namesOf(topology, topology.route(0, 3)),
            (Names{"s", "r", "t", "d"}));
  EXPECT_EQ(namesOf(topology, topology.route(1, 3)),
            (Names{"s", "r", "t", "d"}));
  // Not stated: the first shortest way, and the other direction as well.
  EXPECT_EQ(namesOf(topology, topology.route(1, 2)),
            (Names{"s", "l", "t", "c"}));
  EXPECT_EQ(namesOf(topology, topology.route(2, 0)),
            (Names{"t", "l", "s", "a"}));
  const auto routes = topology.routes(0, 3);
  ASSERT_EQ(routes.size(), 2u);
  EXPECT_EQ(routes[0].share, 0.25);
  EXPECT_EQ(namesOf(topology, routes[0]), (Names{"s", "l", "t", "d"}));
  for (DeviceId a = 0; a < 4; ++a)
    for (DeviceId b = 0; b < 4; ++b)
      expectWays(topology, a, b);
}

TEST(TopologyRoutes, OfNodesReachAllTheirDevices) {
  const Topology topology = parse(kRing + R"(
routes:
  - {from: n0, to: n1, via: [n0.router, n3.router, n2.router, n1.router]}
  - {from: d0, to: d2, via: [n0.nic0, n0.router, n1.router, n1.nic0]}
)");
  EXPECT_EQ(namesOf(topology, topology.route(1, 3)),
            (Names{"n0.nic0", "n0.router", "n3.router", "n2.router",
                   "n1.router", "n1.nic0", "d3"}));
  EXPECT_EQ(topology.routeCost(1, 3).latency, 5 * kMicrosecond);
  // What is stated for two devices goes before.
  EXPECT_EQ(topology.route(0, 2).links.size(), 5u);
  EXPECT_EQ(topology.route(1, 2).links.size(), 7u);
  EXPECT_EQ(topology.route(2, 0).links.size(), 5u);
  for (DeviceId a = 0; a < 8; ++a)
    for (DeviceId b = 0; b < 8; ++b)
      expectWays(topology, a, b);
}

TEST(TopologyRoutes, OfNodesByASwitchOrANicOnly) {
  const std::string rails = R"(
nodes:
  count: 2
  devices: 2 x h200
  interconnect: {type: switch, bandwidth: 400 GB/s, latency: 2 us}
  nic: {count: 2, bandwidth: 50 GB/s, latency: 1 us}
  network: {type: rail-only}
routes:
)";
  // All by the second rail, which first devices reach by their node's switch.
  const Topology topology =
      parse(rails + "  - {from: n0, to: n1, via: [network.rail1]}\n");
  EXPECT_EQ(namesOf(topology, topology.route(0, 2)),
            (Names{"n0.switch", "d1", "n0.nic1", "network.rail1", "n1.nic1",
                   "d3", "n1.switch", "d2"}));
  EXPECT_EQ(namesOf(topology, topology.route(1, 3)),
            (Names{"n0.nic1", "network.rail1", "n1.nic1", "d3"}));
  expectWays(topology, 0, 2);
  EXPECT_EQ(parse(topology.print()).hash(), topology.hash());
  // A NIC of the source is its way out, and leads to one rail only.
  EXPECT_EQ(errorOf(rails + "  - {from: n0, to: n1, via: [n0.nic1]}\n"),
            "t.yaml:9: the route from 'n0' to 'n1' ends with 'n0.nic1', which "
            "does not reach device 'd2' inside of its node");
}

TEST(TopologyRoutes, CountInTheHashAndReadBack) {
  const Topology plain = parse(kDiamond);
  const std::string routes = R"(
routes:
  - {from: b, to: c, via: [s, r, t]}
  - {from: a, to: c, paths: [{via: [s, r, t], share: 0.1}, {via: [s, l, t], share: 0.9}]}
)";
  const Topology stated = parse(kDiamond + routes);
  EXPECT_NE(stated.hash(), plain.hash());
  EXPECT_EQ(parse(stated.print()).hash(), stated.hash());
  EXPECT_NE(
      stated.print().find("  - {from: a, to: c, paths: [{share: 0.1, via: "
                          "[s, r, t]}, {share: 0.9, via: [s, l, t]}]}\n"
                          "  - {from: b, to: c, via: [s, r, t]}\n"),
      std::string::npos);
  EXPECT_EQ(stated.withMemory(1 << 30).route(0, 2).links,
            stated.route(0, 2).links);
  // Shares are divided by their sum where that is but nearly 1.
  const Topology thirds = parse(
      kDiamond + "routes: [{from: a, to: c, paths: [{via: [s, r, t], share: "
                 "0.33333}, {via: [s, l, t], share: 0.66666}]}]\n");
  EXPECT_EQ(thirds.routes(0, 2)[0].share, 0.33333 / (0.33333 + 0.66666));
  EXPECT_EQ(parse(thirds.print()).hash(), thirds.hash());
  // Their order does not count; that of paths does.
  EXPECT_EQ(parse(kDiamond + R"(
routes:
  - {from: a, to: c, paths: [{share: 0.1, via: [s, r, t]}, {via: [s, l, t], share: 0.9}]}
  - {to: c, from: b, via: [s, r, t]}
)")
                .hash(),
            stated.hash());
  EXPECT_EQ(parse(kDiamond + "routing: single\n").hash(), plain.hash());
}

//===----------------------------------------------------------------------===//
// Spread messages
//===----------------------------------------------------------------------===//

std::string directNetwork(int count, const std::string &network) {
  return "devices: " + std::to_string(count) + " x h200\ninterconnect: {" +
         network + ", bandwidth: 1 GB/s, latency: 1 us}\n";
}

/// The heaviest load of a link when every device sends 1 to every other.
double heaviest(const Topology &topology) {
  std::vector<double> sum(topology.links().size());
  for (DeviceId a = 0; a < topology.numDevices(); ++a)
    for (DeviceId b = 0; b < topology.numDevices(); ++b)
      for (auto [link, load] : loadsOf(topology, a, b))
        sum[link] += load;
  return *std::max_element(sum.begin(), sum.end());
}

TEST(TopologyRoutes, SpreadOverAHypercube) {
  const Topology topology =
      parse(directNetwork(8, "type: hypercube") + "routing: spread\n");
  // From corner to corner: 3 links with a third, 6 with a sixth, 3 with a
  // third.
  std::map<int, int> twelfths;
  for (auto [link, load] : loadsOf(topology, 0, 7))
    ++twelfths[static_cast<int>(load * 12 + 0.5)];
  EXPECT_EQ(twelfths, (std::map<int, int>{{4, 6}, {2, 6}}));
  EXPECT_EQ(topology.routes(0, 7).size(), 6u);
  EXPECT_EQ(topology.routes(0, 1).size(), 1u);
  EXPECT_EQ(topology.routes(3, 3).size(), 1u);
}

TEST(TopologyRoutes, SpreadTrafficLoadsAllLinksOfATorusEqually) {
  for (auto [count, network] : {std::pair{16, "type: torus, shape: [4, 4]"},
                                {27, "type: torus, shape: [3, 3, 3]"},
                                {32, "type: hypercube"}}) {
    const Topology single = parse(directNetwork(count, network));
    const Topology spread =
        parse(directNetwork(count, network) + "routing: spread\n");
    double hops = 0;
    for (DeviceId dst = 0; dst < count; ++dst)
      hops += static_cast<double>(single.route(0, dst).links.size());
    const double even =
        count * hops / static_cast<double>(single.links().size());
    EXPECT_NEAR(heaviest(spread), even, 1e-9);
    EXPECT_GE(heaviest(single), even);
  }
  // One way for each pair piles up: 12 or more where 8 would do.
  EXPECT_GE(heaviest(parse(directNetwork(16, "type: torus, shape: [4, 4]"))),
            12);
}

TEST(TopologyRoutes, SpreadOrStatedOnRandomGraphs) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const int count = 6 + 2 * static_cast<int>(random() % 6);
    const std::string text = directNetwork(
        count,
        "type: random-regular, degree: " + std::to_string(3 + random() % 2) +
            ", seed: " + std::to_string(1 + random() % 100));
    const Topology spread = parse(text + "routing: spread\n");
    EXPECT_EQ(parse(spread.print()).hash(), spread.hash());
    // The same ways, stated.
    std::string routes = "routes:\n";
    for (DeviceId a = 0; a < count; ++a)
      for (DeviceId b = 0; b < count; ++b) {
        expectWays(spread, a, b);
        for (const SharedRoute &route : spread.routes(a, b))
          EXPECT_EQ(route.latency, spread.routeCost(a, b).latency);
        if (a == b)
          continue;
        routes += "  - {from: d" + std::to_string(a) + ", to: d" +
                  std::to_string(b) + ", paths: [";
        for (const SharedRoute &route : spread.routes(a, b)) {
          Names names = namesOf(spread, route);
          names.pop_back();
          std::string via;
          for (const std::string &name : names)
            via += (via.empty() ? "" : ", ") + name;
          routes += "{share: " + std::to_string(route.share) + ", via: [" +
                    via + "]}, ";
        }
        routes += "]}\n";
      }
    const Topology stated = parse(text + routes);
    EXPECT_EQ(parse(stated.print()).hash(), stated.hash());
    EXPECT_EQ(parse(stated.print()).print(), stated.print());
    for (DeviceId a = 0; a < count; ++a)
      for (DeviceId b = 0; b < count; ++b) {
        expectWays(stated, a, b);
        const Loads expected = loadsOf(spread, a, b);
        const Loads found = loadsOf(stated, a, b);
        ASSERT_EQ(found.size(), expected.size());
        for (auto [link, load] : expected)
          EXPECT_NEAR(found.at(link), load, 1e-5);
      }
  }
}

TEST(TopologyRoutes, ExchangesDivideWhatLinksCarry) {
  using Times = std::vector<std::pair<DeviceId, Picoseconds>>;
  const std::vector<CostModel::Transfer> both = {{0, 2, 3000}, {1, 3, 3000}};
  auto timeOf = [&](const std::string &rest) {
    const Times times = CostModel(parse(kDiamond + rest)).exchange(both);
    EXPECT_EQ(times.size(), 4u);
    return times[0].second;
  };
  // Both over one switch: 6000 bytes at 1 GB/s; over both: 3000 each, in which
  // time each message alone passes.
  EXPECT_EQ(timeOf(""), (4 + 6) * kMicrosecond);
  EXPECT_EQ(timeOf("routing: spread\n"), (4 + 3) * kMicrosecond);
  EXPECT_EQ(timeOf("routes: [{from: b, to: d, via: [s, r, t]}]\n"),
            (4 + 3) * kMicrosecond);
  // 3000 and a third of 3000 over the left switch.
  EXPECT_EQ(timeOf("routes: [{from: b, to: d, paths: [{via: [s, l, t], share: "
                   "0.25}, {via: [s, r, t], share: 0.75}]}]\n"),
            4 * kMicrosecond + 3'750'000);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Of the only route, which is on line 17.
std::string routeError(const std::string &route) {
  return errorOf(kDiamond + "routes: [{" + route + "}]\n");
}
std::string nodeRouteError(const std::string &route) {
  return errorOf(kRing + "routes: [{" + route + "}]\n");
}

TEST(TopologyRoutesErrors, Syntax) {
  EXPECT_EQ(routeError("from: a, to: c"),
            "t.yaml:17: a route lacks the key 'via'");
  EXPECT_EQ(routeError("from: a, via: [s]"),
            "t.yaml:17: a route lacks the key 'to'");
  EXPECT_EQ(routeError("from: a, to: c, via: s"),
            "t.yaml:17: expected 'via' of a route to be a list of names, found "
            "'s'");
  EXPECT_EQ(routeError("from: a, to: c, via: [s], share: 1"),
            "t.yaml:17: unknown key 'share' in a route, expected one of: from, "
            "to, via, paths");
  EXPECT_EQ(routeError("from: a, to: c, via: [s], paths: [{via: [s]}]"),
            "t.yaml:17: a route has 'via' (one path) or 'paths' (several), not "
            "both");
  EXPECT_EQ(routeError("from: a, to: c, paths: []"),
            "t.yaml:17: expected paths of a route to be a list, found an empty "
            "one");
  EXPECT_EQ(routeError("from: a, to: c, paths: [{share: 1}]"),
            "t.yaml:17: a path lacks the key 'via'");
  EXPECT_EQ(errorOf(kDiamond + "routes: []\n"),
            "t.yaml:17: expected routes to be a list, found an empty one");
  EXPECT_EQ(errorOf(kDiamond + "routing: ecmp\n"),
            "t.yaml:17: expected routing to be 'single' or 'spread', found "
            "'ecmp'");
}

TEST(TopologyRoutesErrors, Ends) {
  EXPECT_EQ(routeError("from: x, to: c, via: [s]"),
            "t.yaml:17: expected a device or a node as a route's end, found "
            "'x'; did you mean 'a'?");
  EXPECT_EQ(routeError("from: a, to: s, via: [s]"),
            "t.yaml:17: expected a device or a node as a route's end, found "
            "'s', a switch or NIC");
  EXPECT_EQ(nodeRouteError("from: n0, to: d2, via: [n0.router]"),
            "t.yaml:8: the route from 'n0' to 'd2' joins a device and a node; "
            "expected two of a kind");
  EXPECT_EQ(routeError("from: a, to: a, via: [s]"),
            "t.yaml:17: the route from 'a' to 'a' leads nowhere");
  EXPECT_EQ(errorOf(kDiamond + "routes:\n- {from: a, to: c, via: [s, l, t]}\n"
                               "- {from: a, to: c, via: [s, r, t]}\n"),
            "t.yaml:19: the route from 'a' to 'c' is given twice");
  EXPECT_EQ(errorOf("nodes: [a, b]\ndevices: [{name: a, kind: h200, node: a}, "
                    "{name: c, kind: h200, node: b}]\nlinks: [{between: [a, "
                    "c], bandwidth: 1 GB/s, latency: 1 us}]\nroutes: [{from: "
                    "a, to: c, via: []}]\n"),
            "t.yaml:4: the route's end 'a' is the name of a device and of a "
            "node; rename one of them");
}

TEST(TopologyRoutesErrors, Paths) {
  EXPECT_EQ(
      routeError("from: a, to: c, via: [s, x, t]"),
      "t.yaml:17: the route from 'a' to 'c' names 'x', expected a device, "
      "switch or NIC; did you mean 'a'?");
  EXPECT_EQ(
      routeError("from: a, to: c, via: [s, t]"),
      "t.yaml:17: the route from 'a' to 'c' leads from 's' to 't', but no "
      "link does");
  EXPECT_EQ(
      routeError("from: a, to: c, via: []"),
      "t.yaml:17: the route from 'a' to 'c' leads from 'a' to 'c', but no "
      "link does");
  EXPECT_EQ(routeError("from: a, to: c, via: [s, l, t, r, s, l, t]"),
            "t.yaml:17: the route from 'a' to 'c' passes through 'l' twice");
  EXPECT_EQ(nodeRouteError("from: n0, to: n1, via: []"),
            "t.yaml:8: the route from 'n0' to 'n1', which are nodes, has no "
            "vertex to go by");
  EXPECT_EQ(nodeRouteError("from: d0, to: d1, via: [n0.nic0]"),
            "t.yaml:8: the route from 'd0' to 'd1' turns round in the NIC "
            "'n0.nic0', which only passes on what enters or leaves its node");
  EXPECT_EQ(nodeRouteError("from: d0, to: d1, via: [n0.nic0, n0.router, "
                           "n0.nic0]"),
            "t.yaml:8: the route from 'd0' to 'd1' passes through 'n0.nic0' "
            "twice");
  EXPECT_EQ(nodeRouteError("from: n0, to: n1, via: [n3.router, n2.router, "
                           "n1.router]"),
            "t.yaml:8: the route from 'n0' to 'n1' begins with 'n3.router', "
            "which device 'd0' does not reach inside of its node");
  EXPECT_EQ(
      nodeRouteError("from: n0, to: n1, via: [n0.router, n3.router, "
                     "n2.router]"),
      "t.yaml:8: the route from 'n0' to 'n1' ends with 'n2.router', which "
      "does not reach device 'd2' inside of its node");
  // The second device gets to the first vertex by the last one.
  EXPECT_EQ(nodeRouteError("from: n0, to: n1, via: [n0.switch, d1, n0.nic0, "
                           "n0.router, n1.router]"),
            "t.yaml:8: the route from 'n0' to 'n1' passes through 'd1' twice");
}

TEST(TopologyRoutesErrors, Shares) {
  auto error = [](const std::string &left, const std::string &right) {
    return routeError("from: a, to: c, paths: [{via: [s, l, t]" + left +
                      "}, {via: [s, r, t]" + right + "}]");
  };
  EXPECT_EQ(
      error(", share: 0.5", ", share: 0.6"),
      "t.yaml:17: expected shares that add up to 1, found 1.100000 in the "
      "route from 'a' to 'c'");
  EXPECT_EQ(error(", share: 0.5", ""),
            "t.yaml:17: expected a share of all paths of a route or of none, "
            "found 1 of 2");
  EXPECT_EQ(error(", share: 0", ", share: 1"),
            "t.yaml:17: expected a share above 0 of a path, found 0");
  EXPECT_EQ(error(", share: -1", ", share: 2"),
            "t.yaml:17: expected 'share' of a path to be a number of at least "
            "0, found '-1'");
  EXPECT_EQ(routeError("from: a, to: c, paths: [{via: [s, l, t]}, {via: [s, l, "
                       "t]}]"),
            "t.yaml:17: the route from 'a' to 'c' has the same path twice");
}

} // namespace
