//===- WiringTest.cpp - traffic of a step, wirings and paths for it -------===//

#include "ffc/Network/Wiring.h"

#include "TestStep.h"
#include "ffc/Network/TopoOptWiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ffc::network;
using testing::ElementsAre;

TEST(Traffic, SumsOfAStep) {
  StepBuilder step(4);
  step.transfer(0, 1, 10).transfer(0, 1, 5).transfer(1, 0, 7, true);
  step.allReduce({2, 0}, 100).allReduce({0, 2}, 20).allReduce({3}, 50);
  const Traffic traffic = trafficOf(step.graph);
  EXPECT_EQ(traffic.forward.at(0, 1), 15);
  EXPECT_EQ(traffic.backward.at(1, 0), 7);
  ASSERT_EQ(traffic.groups.size(), 1u) << "one member has nothing to send";
  EXPECT_THAT(traffic.groups[0].members, ElementsAre(2, 0));
  EXPECT_EQ(traffic.groups[0].bytes, 120);
  EXPECT_EQ(traffic.groups[0].sentByEach(), 120);
  EXPECT_EQ(traffic.computation, 2'000'000'000);
}

TEST(Traffic, AllReducesAreDivided) {
  StepBuilder step(3);
  step.allReduce({0, 1, 2}, 11).allReduce({1}, 5).allReduce({2, 1, 0}, 1);
  const TaskGraph divided = divideAllReduces(step.graph, trafficOf(step.graph),
                                             {{{0, 2, 1}, {1, 2, 0}}});
  ASSERT_EQ(divided.tasks.size(), step.graph.tasks.size() + 1);
  EXPECT_EQ(divided.tasks[6].bytes, 6);
  EXPECT_THAT(divided.tasks[6].members, ElementsAre(0, 2, 1));
  EXPECT_EQ(divided.tasks[9].bytes, 5);
  EXPECT_THAT(divided.tasks[9].members, ElementsAre(1, 2, 0));
  EXPECT_THAT(divided.tasks[7].members, ElementsAre(1)) << "not divided";
  EXPECT_EQ(divided.tasks[8].bytes, 1) << "too small for two rings";
  // Server 1's backward task, which all of them follow.
  EXPECT_THAT(divided.tasks[4].next, ElementsAre(6, 7, 8, 9));
}

// In a triangle half of what one sends to another goes past the third.
TEST(BalancedPaths, MayBeLongerByAHop) {
  StepBuilder step(3);
  for (int message = 0; message < 4; ++message)
    step.transfer(0, 1, 3'000'000);
  Wiring wiring;
  wiring.numServers = 3;
  wiring.connections = {{0, 1}, {1, 2}, {2, 0}};
  const PhaseDemand demand = demandOf(trafficOf(step.graph), {});
  for (auto [mostPaths, peak] : {std::pair(1, 12e6), {2, 6e6}, {3, 8e6}}) {
    Network network = linksOf(wiring, 1e9, 0);
    addBalancedPaths(network, demand, {mostPaths, 1});
    EXPECT_EQ(faultOf(network), "");
    EXPECT_EQ(network.paths.size(), 6u);
    EXPECT_NEAR(peakLoadOf(network, demand).forward, peak, 1);
  }
}

// In a square, opposite servers send over both sides.
TEST(BalancedPaths, SharesOfAPairAddUp) {
  StepBuilder step(4);
  for (int message = 0; message < 8; ++message)
    step.transfer(0, 2, 1'000'000).transfer(2, 0, 1'000'000, true);
  Wiring wiring;
  wiring.numServers = 4;
  wiring.connections = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
  const PhaseDemand demand = demandOf(trafficOf(step.graph), {});
  Network network = linksOf(wiring, 1e9, 0);
  addBalancedPaths(network, demand, {4, 0});
  const std::vector<Path> &paths = network.paths.at({0, 2});
  ASSERT_EQ(paths.size(), 2u) << "equal strands are one path";
  EXPECT_NEAR(paths[0].share, 0.5, 1e-9);
  EXPECT_NEAR(peakLoadOf(network, demand).forward, 4e6, 1);
  EXPECT_NEAR(peakLoadOf(network, demand).backward, 4e6, 1);
  EXPECT_NEAR(peakLoadOf(network, demand).both, 4e6, 1) << "on other links";
}

// One server sends to all others, which send nothing: there are links between
// those, too.
TEST(TopoOptWiring, EveryInterfaceIsMatched) {
  StepBuilder step(8);
  for (int dst = 1; dst < 8; ++dst)
    step.transfer(0, dst, 1000);
  const Traffic traffic = trafficOf(step.graph);
  for (int degree : {2, 3, 4, 5}) {
    const Wiring wiring = topoOptWiring(traffic, degree, LinkKind::TwoWay,
                                        StrideRule::Geometric, 1)
                              .wiring;
    EXPECT_TRUE(isConnected(wiring));
    EXPECT_EQ(degreeOf(wiring), degree);
    EXPECT_EQ(int(wiring.connections.size()), 8 * degree / 2);
  }
}

// Of 9 parts of what is sent, all-reduces are 6: of 4 interfaces, 3, but a ring
// takes two. The others are for the pairs that send, and the two that do not.
TEST(TopoOptWiring, DegreeIsDividedByBytes) {
  StepBuilder step(6);
  step.allReduce(firstServers(6), 12'000'000);
  for (auto [a, b] : {std::pair(0, 3), {1, 4}, {3, 0}, {4, 1}})
    step.transfer(a, b, 15'000'000);
  const StridedWiring strided = topoOptWiring(
      trafficOf(step.graph), 4, LinkKind::TwoWay, StrideRule::Geometric, 1);
  EXPECT_THAT(strided.coins, ElementsAre(1, 5));
  const Pairs &pairs = strided.wiring.connections;
  ASSERT_EQ(pairs.size(), 12u);
  EXPECT_THAT(
      Pairs(pairs.begin() + 6, pairs.end()),
      testing::UnorderedElementsAre(testing::Pair(0, 3), testing::Pair(1, 4),
                                    testing::Pair(2, 5), testing::Pair(0, 3),
                                    testing::Pair(1, 4), testing::Pair(2, 5)));
  EXPECT_EQ(strided.wiring.rings[0].size(), 2u) << "there and back";
}
