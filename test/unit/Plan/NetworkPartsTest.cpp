//===- NetworkPartsTest.cpp - what networks are built of ------------------===//

#include "ffc/Plan/NetworkParts.h"

#include "TestTopology.h"

#include <gtest/gtest.h>

using namespace ffc::plan;
using ffc::plan::testing::load;
using ffc::plan::testing::parse;

namespace {

using Switches = std::map<int, int>;
using Cables = std::map<double, int>;

/// Of `count` nodes with two devices and `nics` NICs of 50 GB/s; the network's
/// links have 25 GB/s.
NetworkParts partsOf(int count, int nics, const std::string &network,
                     bool hasFigures = true) {
  return networkParts(parse(
      "nodes:\n  count: " + std::to_string(count) +
      "\n  devices: 2 x h200\n"
      "  interconnect: {type: switch, bandwidth: 400 GB/s, latency: 1 us}\n"
      "  nic: {count: " +
      std::to_string(nics) +
      ", bandwidth: 50 GB/s, latency: 1 us}\n"
      "  network: {" +
      network + (hasFigures ? ", bandwidth: 25 GB/s, latency: 1 us" : "") +
      "}\n"));
}

TEST(NetworkParts, FatTreesOfTheTextbook) {
  for (int k : {2, 4, 6, 8}) {
    const NetworkParts parts = partsOf(
        k * k * k / 4, 1, "type: fat-tree, ports: " + std::to_string(k));
    EXPECT_EQ(parts.switches, (Switches{{k, 5 * k * k / 4}}));
    EXPECT_EQ(parts.cables,
              (Cables{{25e9, k * k * k / 2}, {50e9, k * k * k / 4}}));
    EXPECT_EQ(parts.nodePorts, k * k * k / 4);
    EXPECT_EQ(parts.switchPorts, 5 * k * k * k / 4);
    EXPECT_EQ(parts.numSwitches(), 5 * k * k / 4);
    EXPECT_EQ(parts.numCables(), 3 * k * k * k / 4);
  }
}

TEST(NetworkParts, OversubscribedFatTree) {
  // 8 ports, 3 down by 1 up: 6 nodes an edge switch, 4 of these in each of 8
  // pods under 2 aggregation switches, and 2 x 4 cores.
  const NetworkParts parts =
      partsOf(192, 1, "type: fat-tree, ports: 8, oversubscription: 3");
  EXPECT_EQ(parts.switches, (Switches{{8, 32 + 16 + 8}}));
  EXPECT_EQ(parts.cables, (Cables{{25e9, 64 + 64}, {50e9, 192}}));
}

TEST(NetworkParts, AFatTreeThatIsNotFull) {
  // Of 4 ports: three edge switches with 2, 2 and 1 nodes and two cables up, in
  // pods of two and one, two aggregation switches a pod with 2 or 1 cables down
  // and two up, four cores with two cables.
  const NetworkParts parts = partsOf(5, 1, "type: fat-tree, ports: 4");
  EXPECT_EQ(parts.switches, (Switches{{4, 2 + 2}, {3, 1 + 2}, {2, 4}}));
  EXPECT_EQ(parts.cables, (Cables{{25e9, 6 + 8}, {50e9, 5}}));
}

TEST(NetworkParts, Switches) {
  const NetworkParts one = partsOf(6, 2, "type: switch", false);
  EXPECT_EQ(one.switches, (Switches{{12, 1}}));
  EXPECT_EQ(one.cables, (Cables{{50e9, 12}}));
  const NetworkParts rails = partsOf(6, 2, "type: rail-only", false);
  EXPECT_EQ(rails.switches, (Switches{{6, 2}}));
  EXPECT_EQ(rails.cables, (Cables{{50e9, 12}}));
  // Two groups of three nodes, two rails each, on four spines.
  const NetworkParts joined =
      partsOf(6, 2, "type: rail-optimised, group: 3, spines: 4");
  EXPECT_EQ(joined.switches, (Switches{{3 + 4, 4}, {4, 4}}));
  EXPECT_EQ(joined.cables, (Cables{{25e9, 16}, {50e9, 12}}));
  EXPECT_EQ(joined.nodePorts, 12);
  EXPECT_EQ(joined.switchPorts, 12 + 32);
}

TEST(NetworkParts, DirectNetworksHaveNoSwitches) {
  for (auto [network, degree] : {std::pair{"type: torus, shape: [4, 4]", 4},
                                 {"type: twisted-torus, shape: [2, 2, 4]", 6},
                                 {"type: hypercube", 4},
                                 {"type: expander, degree: 3", 3},
                                 {"type: ring, strides: [1, 3, 8]", 5},
                                 {"type: all-to-all", 15}}) {
    const NetworkParts parts = partsOf(16, 2, network);
    EXPECT_EQ(parts.switches, Switches{}) << network;
    EXPECT_EQ(parts.cables, (Cables{{25e9, 16 * degree / 2}})) << network;
    EXPECT_EQ(parts.nodePorts, 16 * degree) << network;
    EXPECT_EQ(parts.switchPorts, 0) << network;
  }
}

TEST(NetworkParts, WhatIsInANodeIsNotCounted) {
  const NetworkParts parts = networkParts(load("h200x8:1"));
  EXPECT_EQ(parts.numSwitches(), 0);
  EXPECT_EQ(parts.numCables(), 0);
  const NetworkParts two = networkParts(load("h200x8:2"));
  EXPECT_EQ(two.switches, (Switches{{16, 1}}));
  EXPECT_EQ(two.cables, (Cables{{50e9, 16}}));
}

TEST(NetworkParts, CablesOfOneDirectionAndBetweenDevices) {
  // Two nodes: devices joined directly, and by a switch with two more links
  // that lead to nothing but another switch.
  const NetworkParts parts = networkParts(parse(R"(
nodes: [m, n]
devices: [{name: a, kind: h200, node: m}, {name: b, kind: h200, node: n}]
switches: [{name: s}, {name: t}]
links:
  - {from: a, to: b, bandwidth: 1 GB/s, latency: 1 us}
  - {from: b, to: a, bandwidth: 2 GB/s, latency: 1 us}
  - {from: a, to: s, bandwidth: 3 GB/s, latency: 1 us}
  - {from: s, to: b, bandwidth: 3 GB/s, latency: 1 us}
  - {between: [s, t], bandwidth: 4 GB/s, latency: 1 us}
)"));
  EXPECT_EQ(parts.cables, (Cables{{2e9, 1}, {3e9, 2}, {4e9, 1}}));
  EXPECT_EQ(parts.switches, (Switches{{1, 1}, {3, 1}}));
  EXPECT_EQ(parts.nodePorts, 4);
}

TEST(NetworkParts, LinksThatStandForSeveralCables) {
  const Topology topology = parse(R"(
nodes: [m, n]
devices: [{name: a, kind: h200, node: m}, {name: b, kind: h200, node: n}]
switches: [{name: s}]
links:
  - {between: [a, b], bandwidth: 6 GB/s, latency: 1 us, cables: 3}
  - {between: [a, s], bandwidth: 4 GB/s, latency: 1 us, cables: 2}
  - {between: [s, b], bandwidth: 2 GB/s, latency: 1 us, cables: 1}
)");
  const NetworkParts parts = networkParts(topology);
  EXPECT_EQ(parts.cables, (Cables{{2e9, 3 + 2 + 1}}));
  EXPECT_EQ(parts.switches, (Switches{{3, 1}}));
  EXPECT_EQ(parts.nodePorts, 3 + 3 + 2 + 1);
  EXPECT_EQ(topology.routeCost(0, 1).bandwidth, 6e9);
  EXPECT_EQ(parse(topology.print()).hash(), topology.hash());
  EXPECT_EQ(networkParts(parse(topology.print())).cables, parts.cables);
}

TEST(NetworkHops, CountCables) {
  auto hopsOf = [](const std::string &network, int sources = 64) {
    return networkHops(
        parse("nodes: {count: 16, devices: 2 x h200, interconnect: {type: "
              "switch, bandwidth: 9 GB/s, latency: 1 us}, nic: {count: 1, "
              "bandwidth: 9 GB/s, latency: 1 us}, network: {" +
              network + ", bandwidth: 9 GB/s, latency: 1 us}}"),
        sources);
  };
  // In rows and columns of four: distances 1, 2, 1 and their sums.
  const NetworkHops torus = hopsOf("type: torus, shape: [4, 4]");
  EXPECT_EQ(torus.most, 4);
  EXPECT_EQ(torus.mean, 32.0 / 15);
  EXPECT_EQ(hopsOf("type: torus, shape: [4, 4]", 3).mean, 32.0 / 15);
  // In a tree of 4 ports, one other node is 2 cables away, two are 4, twelve 6.
  const NetworkHops tree = hopsOf("type: fat-tree, ports: 4");
  EXPECT_EQ(tree.most, 6);
  EXPECT_EQ(tree.mean, (1 * 2 + 2 * 4 + 12 * 6) / 15.0);
  EXPECT_EQ(networkHops(load("h200x8:1"), 8).most, 0);
  EXPECT_EQ(networkHops(load("h200x8:2"), 8).mean, 2);
  EXPECT_EQ(networkHops(load("cpu:4"), 8).mean, 0);
}

TEST(NetworkParts, RoutersAreSwitchesOfNodes) {
  const Topology torus = load("a100-topoopt:11");
  const std::vector<int> routers = routersOf(torus);
  for (size_t v = 0; v < routers.size(); ++v) {
    const std::string &name = torus.vertices()[v].name;
    const bool isRouter =
        name.size() > 7 && name.compare(name.size() - 7, 7, ".router") == 0;
    EXPECT_EQ(routers[v], isRouter ? std::stoi(name.substr(1)) : -1) << name;
  }
  // An edge switch with one node is none: its links lead to switches.
  const Topology tree = parse(
      "nodes: {count: 2, devices: 1 x h200, nic: {count: 1, bandwidth: 1 GB/s, "
      "latency: 1 us}, network: {type: fat-tree, ports: 2, bandwidth: 1 GB/s, "
      "latency: 1 us}}");
  for (int node : routersOf(tree))
    EXPECT_EQ(node, -1);
}

} // namespace
