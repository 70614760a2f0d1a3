//===- TopologyPatternTest.cpp - regular networks -------------------------===//

#include "TestTopology.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace ffc::plan;
using ffc::plan::testing::errorOf;
using ffc::plan::testing::parse;

namespace {

/// `count` nodes of one device; the network is on line 5.
std::string nodes(int count, const std::string &network) {
  return "nodes:\n  count: " + std::to_string(count) +
         "\n  devices: 1 x h200\n"
         "  nic: {count: 1, bandwidth: 100 GB/s, latency: 1 us}\n"
         "  network: {" +
         network + "}\n";
}
const std::string kFigures = ", bandwidth: 25 GB/s, latency: 1 us";

std::string networkError(int count, const std::string &network) {
  return errorOf(nodes(count, network + kFigures));
}

/// How many links a way between the first device and `dst` has in the network,
/// without those of the NICs and devices.
size_t hops(const Topology &topology, DeviceId dst) {
  return topology.route(0, dst).links.size() - 4;
}

/// By vertex, the vertices that its links lead to.
std::map<int, std::set<int>> neighbours(const Topology &topology) {
  std::map<int, std::set<int>> result;
  for (const Link &link : topology.links())
    EXPECT_TRUE(result[link.src].insert(link.dst).second);
  return result;
}

TEST(TopologyPattern, TorusOfNodes) {
  const Topology topology =
      parse(nodes(16, "type: torus, shape: [4, 4]" + kFigures));
  ASSERT_EQ(topology.numDevices(), 16);
  // Each node: 4 links to neighbours, 2 x 2 of its device and NIC.
  EXPECT_EQ(topology.links().size(), 16u * (4 + 4));
  const Route route = topology.route(0, 5);
  EXPECT_EQ(route.latency, 4'000'000);
  EXPECT_EQ(route.bandwidth, 25e9);
  // Row-major: 3 is round the corner in a row, 12 in a column, 10 is farthest.
  for (auto [dst, expected] :
       {std::pair<int, size_t>{1, 1}, {3, 1}, {4, 1}, {12, 1}, {5, 2}, {10, 4}})
    EXPECT_EQ(hops(topology, dst), expected) << dst;
}

TEST(TopologyPattern, TorusOfThreeDimensions) {
  const Topology topology =
      parse(nodes(24, "type: torus, shape: [2, 3, 4]" + kFigures));
  // An extent of 2 gives one link, not two.
  EXPECT_EQ(topology.links().size(), 24u * (5 + 4));
  EXPECT_EQ(hops(topology, 12 + 4 + 2), 1u + 1 + 2);
}

TEST(TopologyPattern, TorusOfDevices) {
  const Topology topology =
      parse("devices: 6 x h200\ninterconnect: {type: torus, shape: [2, 3]" +
            kFigures + "}");
  EXPECT_EQ(topology.links().size(), 6u * 3);
  EXPECT_EQ(topology.vertices().size(), 6u);
  EXPECT_EQ(topology.route(0, 5).links.size(), 2u);
}

TEST(TopologyPattern, RingWithStrides) {
  const Topology ring = parse(nodes(12, "type: ring" + kFigures));
  EXPECT_EQ(hops(ring, 6), 6u);
  const Topology topology =
      parse(nodes(12, "type: ring, strides: [1, 5]" + kFigures));
  EXPECT_EQ(topology.links().size(), 12u * (4 + 4));
  EXPECT_EQ(hops(topology, 5), 1u);
  EXPECT_EQ(hops(topology, 6), 2u);
  // Half of the ring: one link for both ends.
  EXPECT_EQ(
      parse(nodes(4, "type: ring, strides: [1, 2]" + kFigures)).links().size(),
      4u * (3 + 4));
}

TEST(TopologyPattern, AllToAllOfNodes) {
  const Topology topology = parse(nodes(5, "type: all-to-all" + kFigures));
  EXPECT_EQ(topology.links().size(), 5u * (4 + 4));
  EXPECT_EQ(hops(topology, 3), 1u);
}

TEST(TopologyPattern, ASwitchIsWhatTheNetworkIsUnlessGiven) {
  EXPECT_EQ(parse(nodes(3, "type: switch")).hash(),
            parse("nodes: {count: 3, devices: 1 x h200, nic: {count: 1, "
                  "bandwidth: 100 GB/s, latency: 1 us}}")
                .hash());
}

TEST(TopologyPattern, RandomRegularGraphs) {
  std::set<std::string> hashes;
  for (auto [count, degree] :
       {std::pair{8, 3}, {9, 4}, {64, 4}, {10, 2}, {6, 5}, {2, 1}, {50, 40}})
    for (int seed = 1; seed <= 5; ++seed) {
      const std::string text = nodes(
          count, "type: random-regular, degree: " + std::to_string(degree) +
                     ", seed: " + std::to_string(seed) + kFigures);
      const Topology topology = parse(text); // all devices reach each other
      EXPECT_EQ(topology.hash(), parse(text).hash());
      hashes.insert(topology.hash());
      for (const auto &[vertex, reached] : neighbours(topology)) {
        if (topology.vertices()[vertex].kind != Vertex::Kind::Switch)
          continue;
        EXPECT_EQ(reached.size(), size_t(degree) + 1); // its NIC besides
        EXPECT_FALSE(reached.count(vertex));
      }
    }
  // Complete graphs (6 of degree 5, 2 of 1) are the same for every seed.
  EXPECT_GT(hashes.size(), 5u * 5);
  // The same everywhere: the generator is our own.
  EXPECT_EQ(
      parse(nodes(8, "type: random-regular, degree: 3" + kFigures)).hash(),
      parse(nodes(8, "type: random-regular, degree: 3, seed: 1" + kFigures))
          .hash());
}

TEST(TopologyPattern, FatTree) {
  const Topology topology =
      parse(nodes(16, "type: fat-tree, ports: 4" + kFigures));
  std::map<std::string, int> switches;
  for (const Vertex &vertex : topology.vertices())
    if (vertex.kind == Vertex::Kind::Switch)
      ++switches[vertex.name.substr(vertex.name.rfind('.') + 1, 4)];
  EXPECT_EQ(switches, (std::map<std::string, int>{
                          {"edge", 8}, {"agg0", 4}, {"agg1", 4}, {"core", 4}}));
  // 16 links of switches in the pods, 16 to the cores, 2 x 16 of nodes.
  EXPECT_EQ(topology.links().size(), 2u * (16 + 16 + 32));
  EXPECT_EQ(hops(topology, 1), 0u);
  EXPECT_EQ(hops(topology, 2), 2u);
  EXPECT_EQ(hops(topology, 4), 4u);
  // Ways spread: those into other edge switches use other switches above.
  std::set<LinkId> used;
  for (DeviceId dst : {4, 6, 8, 10, 12, 14})
    used.insert(topology.route(0, dst).links[4]);
  EXPECT_GE(used.size(), 4u);
}

TEST(TopologyPattern, FatTreeHasWhatItsNodesNeed) {
  // 2 ports for 2 nodes, 4 for up to 16; one edge switch needs no others.
  EXPECT_EQ(
      parse(nodes(4, "type: fat-tree, ports: 8" + kFigures)).vertices().size(),
      4u * 3 + 1);
  // One pod of two edge and two aggregation switches, no cores.
  EXPECT_EQ(
      parse(nodes(4, "type: fat-tree, ports: 4" + kFigures)).vertices().size(),
      4u * 3 + 4);
  EXPECT_EQ(parse(nodes(16, "type: fat-tree" + kFigures)).hash(),
            parse(nodes(16, "type: fat-tree, ports: 4" + kFigures)).hash());
}

TEST(TopologyPattern, OneNodeNeedsNoNetwork) {
  const Topology topology =
      parse(nodes(1, "type: random-regular, degree: 3" + kFigures));
  EXPECT_TRUE(topology.links().empty());
  EXPECT_EQ(networkError(1, "type: torus, shape: [2, 2]"),
            "t.yaml:5: expected a shape of 1 nodes, found 2 x 2, which is 4");
}

TEST(TopologyPattern, PrintReadsBack) {
  for (const char *network :
       {"type: torus, shape: [2, 2, 3]", "type: ring, strides: [1, 5]",
        "type: fat-tree", "type: random-regular, degree: 4",
        "type: all-to-all"}) {
    const Topology topology = parse(nodes(12, network + kFigures));
    const Topology again = parse(topology.print());
    EXPECT_EQ(again.print(), topology.print());
    for (DeviceId a = 0; a < 12; ++a)
      for (DeviceId b = 0; b < 12; ++b)
        EXPECT_EQ(again.route(a, b).links, topology.route(a, b).links);
  }
}

TEST(TopologyPatternErrors, Types) {
  EXPECT_EQ(errorOf(nodes(4, "type: mesh" + kFigures)),
            "t.yaml:5: unknown type of network 'mesh', expected one of: "
            "all-to-all, ring, switch, torus, twisted-torus, hypercube, "
            "random-regular, expander, fat-tree, rail-optimised, rail-only, "
            "dragonfly");
  EXPECT_EQ(errorOf(nodes(4, "shape: [2, 2]")),
            "t.yaml:5: the network lacks the key 'type'");
  EXPECT_EQ(errorOf(nodes(4, "type: ring, shapes: 4")),
            "t.yaml:5: unknown key 'shapes' in the network, expected one of: "
            "type, bandwidth, latency, strides, shape, twists, degree, seed, "
            "ports, oversubscription, spines, group, terminals, routers, "
            "global; did you mean 'shape'?");
  EXPECT_EQ(errorOf(nodes(4, "type: ring, shape: [4]")),
            "t.yaml:5: unknown key 'shape' in the network of type 'ring', "
            "expected one of: type, bandwidth, latency, strides");
  EXPECT_EQ(errorOf(nodes(4, "type: switch, latency: 1 us")),
            "t.yaml:5: unknown key 'latency' in the network of type 'switch', "
            "expected one of: type");
  EXPECT_EQ(errorOf(nodes(4, "type: ring, latency: 1 us")),
            "t.yaml:5: the network lacks the key 'bandwidth'");
  EXPECT_EQ(errorOf(nodes(4, "type: ring, bandwidth: 1 us, latency: 1 us")),
            "t.yaml:5: bandwidth of the network: expected a bandwidth with its "
            "unit such as '450 GB/s', found '1 us', whose unit 'us' is not one "
            "of a bandwidth");
}

TEST(TopologyPatternErrors, Torus) {
  EXPECT_EQ(networkError(4, "type: torus"),
            "t.yaml:5: the network lacks the key 'shape'");
  EXPECT_EQ(networkError(4, "type: torus, shape: 4"),
            "t.yaml:5: expected the shape of the network to be a list of 1 to "
            "6 numbers, found '4'");
  EXPECT_EQ(networkError(4, "type: torus, shape: [1, 1, 1, 1, 2, 2, 1]"),
            "t.yaml:5: expected the shape of the network to be a list of 1 to "
            "6 numbers, found 7");
  EXPECT_EQ(networkError(4, "type: torus, shape: [0, 4]"),
            "t.yaml:5: expected a number in the shape of the network from 1 to "
            "65536, found '0'");
  EXPECT_EQ(networkError(4, "type: torus, shape: [2, 3]"),
            "t.yaml:5: expected a shape of 4 nodes, found 2 x 3, which is 6");
  EXPECT_EQ(networkError(4, "type: torus, shape: [65536, 65536, 65536]"),
            "t.yaml:5: expected a shape of 4 nodes, found 65536 x 65536 x "
            "65536, which is over 65536");
}

TEST(TopologyPatternErrors, Ring) {
  EXPECT_EQ(networkError(4, "type: ring, strides: [1, 3]"),
            "t.yaml:5: expected strides of at most half of the 4 nodes, found "
            "3");
  EXPECT_EQ(networkError(4, "type: ring, strides: [1, 1]"),
            "t.yaml:5: the stride 1 is given twice");
  EXPECT_EQ(networkError(12, "type: ring, strides: [2, 4]"),
            "t.yaml:5: expected strides that lead to all 12 nodes, found 2, 4, "
            "which have the common divisor 2");
  EXPECT_EQ(networkError(12, "type: ring, strides: []"),
            "t.yaml:5: expected the strides of the network to be a list of 1 "
            "to 64 numbers, found 0");
}

TEST(TopologyPatternErrors, RandomRegular) {
  EXPECT_EQ(networkError(4, "type: random-regular"),
            "t.yaml:5: the network lacks the key 'degree'");
  EXPECT_EQ(networkError(4, "type: random-regular, degree: 4"),
            "t.yaml:5: expected a degree below the 4 nodes, found 4");
  EXPECT_EQ(networkError(5, "type: random-regular, degree: 3"),
            "t.yaml:5: expected an even degree for 5 nodes, an odd number, "
            "found 3");
  EXPECT_EQ(networkError(4, "type: random-regular, degree: 1"),
            "t.yaml:5: expected a degree of at least 2 for 4 nodes that are "
            "all connected, found 1");
  EXPECT_EQ(networkError(4, "type: random-regular, degree: 2, seed: x"),
            "t.yaml:5: expected the seed of the network from 1 to 2147483647, "
            "found 'x'");
  EXPECT_EQ(networkError(8192, "type: random-regular, degree: 100"),
            "t.yaml:5: expected a random graph of at most 262144 links, found "
            "409600");
}

TEST(TopologyPatternErrors, FatTree) {
  EXPECT_EQ(networkError(4, "type: fat-tree, ports: 5"),
            "t.yaml:5: expected switches with an even number of ports, found "
            "5");
  EXPECT_EQ(networkError(17, "type: fat-tree, ports: 4"),
            "t.yaml:5: expected ports for 17 nodes, found 4, which are enough "
            "for 16");
  EXPECT_EQ(networkError(17, "type: fat-tree, ports: 256"),
            "t.yaml:5: expected the ports of the network from 1 to 128, found "
            "'256'");
}

TEST(TopologyPatternErrors, AllToAll) {
  EXPECT_EQ(networkError(257, "type: all-to-all"),
            "t.yaml:5: expected at most 256 nodes connected all to all, found "
            "257; use 'type: switch'");
}

} // namespace
