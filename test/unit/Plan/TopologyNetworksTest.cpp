//===- TopologyNetworksTest.cpp - networks of nodes, by their properties --===//

#include "ffc/Plan/NetworkParts.h"

#include "TestTopology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace ffc::plan;
using ffc::plan::testing::errorOf;
using ffc::plan::testing::parse;

namespace {

const std::string kFigures = ", bandwidth: 25 GB/s, latency: 1 us";

/// Nodes with a device for each of their NICs; the network is on line 6.
std::string nodes(int count, int nics, const std::string &network) {
  return "nodes:\n  count: " + std::to_string(count) +
         "\n  devices: " + std::to_string(nics) +
         " x h200\n"
         "  interconnect: {type: switch, bandwidth: 400 GB/s, latency: 2 us}\n"
         "  nic: {count: " +
         std::to_string(nics) +
         ", bandwidth: 50 GB/s, latency: 1 us}\n  network: {" + network + "}\n";
}

std::string listed(const std::vector<int> &numbers) {
  std::string text;
  for (int number : numbers)
    text += (text.empty() ? "[" : ", ") + std::to_string(number);
  return text + "]";
}

/// For all pairs of devices: their route leads from one to the other.
void expectRoutes(const Topology &topology) {
  for (DeviceId a = 0; a < topology.numDevices(); ++a)
    for (DeviceId b = 0; b < topology.numDevices(); ++b) {
      int at = a;
      Picoseconds latency = 0;
      for (LinkId id : topology.route(a, b).links) {
        const Link &link = topology.links()[id];
        ASSERT_EQ(link.src, at);
        at = link.dst;
        latency += link.latency;
      }
      ASSERT_EQ(at, b);
      ASSERT_EQ(latency, topology.routeCost(a, b).latency);
    }
}

void expectReadsBack(const Topology &topology) {
  EXPECT_EQ(parse(topology.print()).hash(), topology.hash());
}

struct DirectNetwork {
  std::string text;
  int count, degree;
};

/// Of each direct type one, with parameters by chance.
std::vector<DirectNetwork> someDirectNetworks(std::mt19937 &random) {
  auto upTo = [&](int least, int most) {
    return least + static_cast<int>(random() % (most - least + 1));
  };
  std::vector<DirectNetwork> networks;
  auto add = [&](const std::string &text, int count, int degree) {
    networks.push_back({text, count, degree});
  };
  std::vector<int> shape;
  int size = 1, degree = 0;
  for (int d = upTo(1, 4); d > 0; --d) {
    shape.push_back(upTo(1, 5));
    if (size * shape.back() > 64)
      shape.back() = 1;
    size *= shape.back();
    degree += std::min(shape.back() - 1, 2);
  }
  if (size > 1)
    add("type: torus, shape: " + listed(shape), size, degree);
  const int a = upTo(2, 3);
  shape = {a, 2 * a};
  if (a == 2 && upTo(0, 1) == 1)
    shape.insert(shape.begin() + upTo(0, 2), upTo(1, 2) * a);
  add("type: twisted-torus, shape: " + listed(shape),
      std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>()),
      2 * static_cast<int>(shape.size()));
  const int x = upTo(3, 6), y = upTo(3, 8);
  add("type: twisted-torus, shape: " + listed({x, y}) + ", twists: [[0, " +
          std::to_string(upTo(0, y - 1)) + "], [0, 0]]",
      x * y, 4);
  const int bits = upTo(1, 6);
  add("type: hypercube", 1 << bits, bits);
  const int count = 2 * upTo(3, 24), links = upTo(2, 5);
  const std::string drawn = ", degree: " + std::to_string(links) +
                            ", seed: " + std::to_string(upTo(1, 1000));
  add("type: random-regular" + drawn, count, links);
  add("type: expander" + drawn, count, links);
  add("type: ring, strides: [1, " + std::to_string(count / 2) + "]", count, 3);
  const int all = upTo(2, 12);
  add("type: all-to-all", all, all - 1);
  return networks;
}

TEST(TopologyNetworks, DirectOnes) {
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round)
    for (const DirectNetwork &network : someDirectNetworks(random)) {
      SCOPED_TRACE(network.text);
      const Topology topology =
          parse(nodes(network.count, 1 + round % 2, network.text + kFigures));
      expectRoutes(topology);
      expectReadsBack(topology);
      std::map<int, int> degrees;
      const std::vector<int> routers = routersOf(topology);
      for (const Link &link : topology.links())
        degrees[link.src] += routers[link.src] >= 0 && routers[link.dst] >= 0;
      for (auto [vertex, degree] : degrees)
        EXPECT_EQ(degree, routers[vertex] >= 0 ? network.degree : 0);
      const NetworkParts parts = networkParts(topology);
      EXPECT_EQ(parts.numCables(), network.count * network.degree / 2);
      EXPECT_EQ(parts.numSwitches(), 0);
      // The same links between devices.
      EXPECT_EQ(parse("devices: " + std::to_string(network.count) +
                      " x h200\ninterconnect: {" + network.text + kFigures +
                      "}\n")
                    .links()
                    .size(),
                size_t(network.count) * network.degree);
    }
}

TEST(TopologyNetworks, FatTrees) {
  std::mt19937 random(8);
  for (int round = 0; round < 40; ++round) {
    const int over = 1 + static_cast<int>(random() % 4);
    const int step = std::lcm(2, over + 1);
    const int k = step * (1 + static_cast<int>(random() % (12 / step)));
    const int up = k / (over + 1), down = k - up;
    const int most = std::min(k * k / 2 * down, 60);
    const int count = 2 + static_cast<int>(random() % (most - 1));
    SCOPED_TRACE(std::to_string(count) + " nodes, " + std::to_string(k) +
                 " ports, oversubscribed " + std::to_string(over));
    const Topology topology = parse(
        nodes(count, 1,
              "type: fat-tree, ports: " + std::to_string(k) +
                  ", oversubscription: " + std::to_string(over) + kFigures));
    expectRoutes(topology);
    expectReadsBack(topology);
    const int edges = (count + down - 1) / down;
    const int pods = (edges + k / 2 - 1) / (k / 2);
    const int aggregations = edges > 1 ? pods * up : 0;
    const int cores = pods > 1 ? up * k / 2 : 0;
    const NetworkParts parts = networkParts(topology);
    EXPECT_EQ(parts.numSwitches(), edges + aggregations + cores);
    EXPECT_EQ(parts.numCables(), count + (edges > 1 ? edges * up : 0) +
                                     (pods > 1 ? aggregations * k / 2 : 0));
    EXPECT_LE(parts.switches.rbegin()->first, k);
  }
}

TEST(TopologyNetworks, FatTreesHaveTheLeastPortsThatSuffice) {
  // Of 4 ports with 3 by 1 there is room for 4 x 2 x 3 nodes.
  for (auto [count, ports] : {std::pair{24, 4}, {25, 8}})
    EXPECT_EQ(
        parse(nodes(count, 1, "type: fat-tree, oversubscription: 3" + kFigures))
            .hash(),
        parse(nodes(count, 1,
                    "type: fat-tree, oversubscription: 3, "
                    "ports: " +
                        std::to_string(ports) + kFigures))
            .hash());
}

TEST(TopologyNetworks, Rails) {
  std::mt19937 random(9);
  for (int round = 0; round < 30; ++round) {
    const int count = 2 + static_cast<int>(random() % 12);
    const int nics = 1 + static_cast<int>(random() % 4);
    const int group = 1 + static_cast<int>(random() % count);
    const int spines = 1 + static_cast<int>(random() % 5);
    const Topology joined =
        parse(nodes(count, nics,
                    "type: rail-optimised, group: " + std::to_string(group) +
                        ", spines: " + std::to_string(spines) + kFigures));
    const Topology only = parse(nodes(count, nics, "type: rail-only"));
    for (const Topology &topology : {joined, only}) {
      expectRoutes(topology);
      expectReadsBack(topology);
    }
    const int leaves = (count + group - 1) / group * nics;
    EXPECT_EQ(networkParts(joined).numSwitches(), leaves + spines);
    EXPECT_EQ(networkParts(joined).numCables(), leaves * spines + count * nics);
    EXPECT_EQ(networkParts(only).numSwitches(), nics);
    EXPECT_EQ(networkParts(only).numCables(), count * nics);
  }
}

TEST(TopologyNetworks, Dragonflies) {
  std::mt19937 random(10);
  for (int round = 0; round < 30; ++round) {
    const int p = 2 + static_cast<int>(random() % 2);
    const int a = 1 + static_cast<int>(random() % 4);
    const int h = 1 + static_cast<int>(random() % 2);
    const int most = std::min((a * h + 1) * a * p, 60);
    const int count = 2 + static_cast<int>(random() % (most - 1));
    SCOPED_TRACE(std::to_string(count) + " nodes, " + std::to_string(p) + " " +
                 std::to_string(a) + " " + std::to_string(h));
    const Topology topology =
        parse(nodes(count, 1,
                    "type: dragonfly, terminals: " + std::to_string(p) +
                        ", routers: " + std::to_string(a) +
                        ", global: " + std::to_string(h) + kFigures));
    expectRoutes(topology);
    expectReadsBack(topology);
    const int groups = (count + a * p - 1) / (a * p);
    const int perPair = groups > 1 ? a * h / (groups - 1) : 0;
    const NetworkParts parts = networkParts(topology);
    EXPECT_EQ(parts.numCables(), count + groups * a * (a - 1) / 2 +
                                     perPair * groups * (groups - 1) / 2);
    EXPECT_EQ(parts.cables.size(), parts.numCables() > count ? 2u : 1u);
    EXPECT_LE(parts.switches.rbegin()->first, p + a - 1 + h);
    EXPECT_LE(networkHops(topology, 64).most, 2 + 3);
  }
  // The one of the paper: 72 nodes, nine groups, every port in use.
  const NetworkParts full = networkParts(parse(nodes(
      72, 1,
      "type: dragonfly, terminals: 2, routers: 4, global: 2" + kFigures)));
  EXPECT_EQ(full.switches, (std::map<int, int>{{2 + 3 + 2, 36}}));
  EXPECT_EQ(full.numCables(), 72 + 9 * 6 + 36);
}

std::vector<std::string> wayOf(const Topology &topology, DeviceId src,
                               DeviceId dst) {
  std::vector<std::string> names;
  for (LinkId link : topology.route(src, dst).links)
    names.push_back(topology.vertices()[topology.links()[link].dst].name);
  return names;
}

TEST(TopologyNetworks, RailsLeadToTheSamePosition) {
  const Topology only = parse(nodes(2, 2, "type: rail-only"));
  EXPECT_EQ(
      wayOf(only, 1, 3),
      (std::vector<std::string>{"n0.nic1", "network.rail1", "n1.nic1", "d3"}));
  // From rail to rail by the switch of a node.
  EXPECT_EQ(only.routeCost(0, 3).latency, 2'000'000 + 2'000'000);
  const auto way = wayOf(only, 0, 3);
  ASSERT_EQ(way.size(), 6u);
  EXPECT_TRUE(std::count(way.begin(), way.end(), "n0.switch") ||
              std::count(way.begin(), way.end(), "n1.switch"));
  // Or by a spine, where that has less latency.
  const Topology joined =
      parse(nodes(2, 2,
                  "type: rail-optimised, spines: 2, bandwidth: 25 GB/s, "
                  "latency: 100 ns"));
  EXPECT_EQ(
      wayOf(joined, 0, 3),
      (std::vector<std::string>{"n0.nic0", "network.g0.rail0", "network.spine1",
                                "network.g0.rail1", "n1.nic1", "d3"}));
}

TEST(TopologyNetworks, RoutesSpreadOverSpines) {
  const Topology topology = parse(
      nodes(8, 1, "type: rail-optimised, group: 1, spines: 4" + kFigures));
  std::map<std::string, int> used;
  for (DeviceId dst = 1; dst < 8; ++dst)
    ++used[wayOf(topology, 0, dst)[2]];
  EXPECT_EQ(used.size(), 4u);
}

TEST(TopologyNetworks, TwistsShortenWays) {
  for (const char *shape : {"[4, 8]", "[4, 4, 8]", "[3, 6, 6]"}) {
    const int count = std::string(shape) == "[4, 8]"      ? 32
                      : std::string(shape) == "[4, 4, 8]" ? 128
                                                          : 108;
    const std::string with = ", shape: " + std::string(shape) + kFigures;
    const NetworkHops plain =
        networkHops(parse(nodes(count, 1, "type: torus" + with)), count);
    const NetworkHops twisted = networkHops(
        parse(nodes(count, 1, "type: twisted-torus" + with)), count);
    EXPECT_LT(twisted.mean, plain.mean) << shape;
    EXPECT_LT(twisted.most, plain.most) << shape;
  }
}

TEST(TopologyNetworks, TwistsGoRound) {
  // Rows of 4 and 8 with a twist of 4: from the last row of a column to the
  // first row four columns on.
  const Topology topology =
      parse(nodes(32, 1, "type: twisted-torus, shape: [4, 8]" + kFigures));
  EXPECT_EQ(topology.route(24, 4).links.size(), 4u + 1);
  EXPECT_EQ(topology.route(24, 0).links.size(), 4u + 3);
  EXPECT_EQ(topology.hash(),
            parse(nodes(32, 1,
                        "type: twisted-torus, shape: [4, 8], twists: [[0, 4], "
                        "[0, 0]]" +
                            kFigures))
                .hash());
  // Without a twist it is the torus.
  EXPECT_EQ(
      parse(nodes(32, 1,
                  "type: twisted-torus, shape: [4, 8], twists: "
                  "[[0, 0], [0, 0]]" +
                      kFigures))
          .hash(),
      parse(nodes(32, 1, "type: torus, shape: [4, 8]" + kFigures)).hash());
}

TEST(TopologyNetworks, ExpandersHaveShorterWaysThanRandomGraphs) {
  for (auto [count, degree, most] :
       {std::tuple{16, 4, 3}, {64, 4, 5}, {60, 3, 6}})
    for (int seed = 1; seed <= 3; ++seed) {
      const std::string with = ", degree: " + std::to_string(degree) +
                               ", seed: " + std::to_string(seed) + kFigures;
      const NetworkHops drawn = networkHops(
          parse(nodes(count, 1, "type: random-regular" + with)), count);
      const NetworkHops chosen =
          networkHops(parse(nodes(count, 1, "type: expander" + with)), count);
      EXPECT_LT(chosen.mean, drawn.mean);
      EXPECT_LE(chosen.most, drawn.most);
      EXPECT_LE(chosen.most, most);
    }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string networkError(int count, const std::string &network) {
  return errorOf(nodes(count, 2, network + kFigures));
}

TEST(TopologyNetworksErrors, Hypercube) {
  EXPECT_EQ(networkError(12, "type: hypercube"),
            "t.yaml:6: expected a power of two of nodes for a hypercube, found "
            "12");
}

TEST(TopologyNetworksErrors, Expander) {
  EXPECT_EQ(networkError(12, "type: expander"),
            "t.yaml:6: the network lacks the key 'degree'");
  EXPECT_EQ(networkError(5, "type: expander, degree: 3"),
            "t.yaml:6: expected an even degree for 5 nodes, an odd number, "
            "found 3");
}

TEST(TopologyNetworksErrors, FatTree) {
  EXPECT_EQ(networkError(4, "type: fat-tree, ports: 8, oversubscription: 2"),
            "t.yaml:6: expected a number of ports that 3 divides, for one up "
            "by 2 down, found 8");
  EXPECT_EQ(networkError(49, "type: fat-tree, ports: 4, oversubscription: 3"),
            "t.yaml:6: expected ports for 49 nodes, found 4, which are enough "
            "for 24");
  EXPECT_EQ(networkError(4, "type: fat-tree, oversubscription: 128"),
            "t.yaml:6: expected the oversubscription of the network from 1 to "
            "127, found '128'");
}

TEST(TopologyNetworksErrors, Rails) {
  EXPECT_EQ(networkError(4, "type: rail-optimised"),
            "t.yaml:6: the network lacks the key 'spines'");
  EXPECT_EQ(networkError(4, "type: rail-optimised, spines: 0"),
            "t.yaml:6: expected the spines of the network from 1 to 65536, "
            "found '0'");
  EXPECT_EQ(networkError(4, "type: rail-optimised, spines: 2, group: x"),
            "t.yaml:6: expected the group of the network from 1 to 65536, "
            "found 'x'");
  EXPECT_EQ(networkError(4, "type: rail-only"),
            "t.yaml:6: unknown key 'bandwidth' in the network of type "
            "'rail-only', expected one of: type");
  EXPECT_EQ(errorOf("devices: 4 x h200\ninterconnect: {type: rail-only}\n"),
            "t.yaml:2: unknown type of interconnect 'rail-only', expected one "
            "of: all-to-all, ring, switch, shared-memory, torus, "
            "twisted-torus, hypercube, random-regular, expander");
}

TEST(TopologyNetworksErrors, Dragonfly) {
  EXPECT_EQ(networkError(4, "type: dragonfly, terminals: 2, routers: 2"),
            "t.yaml:6: the network lacks the key 'global'");
  EXPECT_EQ(
      networkError(73, "type: dragonfly, terminals: 2, routers: 4, global: 2"),
      "t.yaml:6: expected a dragonfly for 73 nodes, found one with room for "
      "72");
  EXPECT_EQ(
      networkError(4, "type: dragonfly, terminals: 2, routers: 999, global: 2"),
      "t.yaml:6: expected the routers of the network from 1 to 128, found "
      "'999'");
}

TEST(TopologyNetworksErrors, TwistedTorus) {
  auto error = [](const std::string &shape, const std::string &twists = "") {
    return networkError(32, "type: twisted-torus, shape: " + shape +
                                (twists.empty() ? "" : ", twists: " + twists));
  };
  EXPECT_EQ(error("[4, 4]"),
            "t.yaml:6: expected a shape of 32 nodes, found 4 x 4, which is 16");
  EXPECT_EQ(error("[2, 16]"),
            "t.yaml:6: expected twists, or a shape with an extent twice the "
            "least, found 2 x 16");
  EXPECT_EQ(error("[4, 8]", "4"),
            "t.yaml:6: expected the twists of the network to be a list of 1 to "
            "6 lists, found '4'");
  EXPECT_EQ(error("[4, 8]", "[0, 4]"),
            "t.yaml:6: expected each of the twists of the network to be a list "
            "of 1 to 6 numbers, found '0'");
  EXPECT_EQ(error("[4, 8]", "[[0, x], [0, 0]]"),
            "t.yaml:6: expected a number in the twists of the network from 0 "
            "to 65536, found 'x'");
  EXPECT_EQ(error("[4, 8]", "[[0, 4]]"),
            "t.yaml:6: expected a list in twists for each of the 2 extents, "
            "found 1");
  EXPECT_EQ(error("[4, 8]", "[[4], [0, 0]]"),
            "t.yaml:6: expected a number in each of the twists for each of the "
            "2 extents, found 1");
  EXPECT_EQ(error("[4, 8]", "[[0, 8], [0, 0]]"),
            "t.yaml:6: expected twists below the extents, found 8 in a "
            "dimension of 8");
  EXPECT_EQ(error("[4, 8]", "[[1, 0], [0, 0]]"),
            "t.yaml:6: expected no twist of a dimension into itself, found 1");
  EXPECT_EQ(error("[4, 8]", "[[0, 4], [2, 0]]"),
            "t.yaml:6: expected twists into dimensions that are not twisted "
            "themselves, found [0, 4] and [2, 0]");
}

} // namespace
