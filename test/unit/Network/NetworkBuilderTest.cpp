//===- NetworkBuilderTest.cpp - networks of known forms -------------------===//

#include "ffc/Network/NetworkBuilder.h"

#include <gtest/gtest.h>

using namespace ffc::network;
namespace plan = ffc::plan;

namespace {

const Interface kInterface = {1e9, 5};

TEST(NetworkBuilder, ASwitchJoinsAll) {
  const Network network = makeSwitch(3, kInterface);
  EXPECT_EQ(faultOf(network), "");
  EXPECT_EQ(network.links.size(), 6u);
  EXPECT_EQ(network.paths.size(), 6u);
  EXPECT_EQ(network.paths.at({0, 2})[0].links.size(), 2u);
  EXPECT_EQ(network.links[0].bandwidth, 1e9);
  EXPECT_EQ(network.links[0].latency, 5);
}

TEST(NetworkBuilder, AFatTreeHasAllShortestPaths) {
  std::string error;
  const auto tree = makeFatTree(4, 16, kInterface, error);
  ASSERT_TRUE(tree) << error;
  EXPECT_EQ(faultOf(*tree), "");
  EXPECT_EQ(tree->numSwitches, 8 + 8 + 4);
  EXPECT_EQ(tree->links.size(), 2u * (16 + 16 + 16));
  auto paths = [&](int src, int dst) { return tree->paths.at({src, dst}); };
  // On the same edge switch, in the same pod, through the core.
  EXPECT_EQ(paths(0, 1).size(), 1u);
  EXPECT_EQ(paths(0, 1)[0].links.size(), 2u);
  EXPECT_EQ(paths(0, 2).size(), 2u);
  EXPECT_EQ(paths(0, 2)[0].links.size(), 4u);
  EXPECT_EQ(paths(0, 4).size(), 4u);
  EXPECT_EQ(paths(0, 4)[0].links.size(), 6u);
}

TEST(NetworkBuilder, LargeNetworksHaveOnlyThePathsThatAreNeeded) {
  std::string error;
  const ServerPairs only = {{0, 1023}};
  const auto tree = makeFatTree(16, 1024, kInterface, error, &only);
  ASSERT_TRUE(tree) << error;
  EXPECT_EQ(tree->paths.size(), 1u);
  EXPECT_EQ(tree->paths.at({0, 1023}).size(), 64u);
  EXPECT_EQ(makeSwitch(1024, kInterface, &only).paths.size(), 1u);
}

TEST(NetworkBuilder, FatTreesThatCannotBe) {
  std::string error;
  EXPECT_FALSE(makeFatTree(5, 4, kInterface, error));
  EXPECT_EQ(error, "expected a fat tree of switches with an even number of "
                   "ports from 2 to 64, found 5");
  EXPECT_FALSE(makeFatTree(4, 17, kInterface, error));
  EXPECT_EQ(error, "expected at most 16 servers for a fat tree of switches "
                   "with 4 ports, found 17");
}

TEST(NetworkBuilder, NodesOfATopologyAreServers) {
  std::string error;
  const auto topology = plan::Topology::load("nvlink-ib:2", error);
  ASSERT_TRUE(topology) << error;
  const auto network = ffc::network::networkOf(*topology, error);
  ASSERT_TRUE(network) << error;
  EXPECT_EQ(faultOf(*network), "");
  EXPECT_EQ(network->numServers, 2);
  // Each of the eight devices has an interface of its own.
  EXPECT_EQ(network->paths.at({0, 1}).size(), 8u);
  for (const Link &link : network->links)
    EXPECT_NE(link.src, link.dst);
}

TEST(NetworkBuilder, OneNodeIsNoNetwork) {
  std::string error;
  const auto topology = plan::Topology::load("cpu:4", error);
  ASSERT_TRUE(topology) << error;
  EXPECT_FALSE(ffc::network::networkOf(*topology, error));
  EXPECT_EQ(error, "cpu:4: expected a topology of at least 2 nodes, found 1");
}

} // namespace
