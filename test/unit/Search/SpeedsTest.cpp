//===- SpeedsTest.cpp - devices that are not equally fast -----------------===//

#include "Speeds.h"

#include "SearchFixture.h"

using namespace ffc::search;
using namespace ffc::plan;
using ffc::plan::testing::TestGraph;
using ffc::search::testing::chips;
using ffc::search::testing::layers;

namespace {

/// Two chips and one that is as fast as a part of them.
Topology mixed(const std::string &third) {
  return ffc::plan::testing::parse(
      "kinds:\n"
      "  fast: {target: cpu, flops: {f32: 1 TFLOP/s}, memory: {size: 8 GB, "
      "bandwidth: 100 GB/s}, launch: 0 s, overlap: false}\n"
      "  slow: {like: fast, flops: {f32: " +
      third +
      "}}\ndevices: [2 x fast, 1 x slow]\n"
      "interconnect: {type: shared-memory, bandwidth: 10 GB/s, latency: 2 "
      "us}\n");
}

TEST(Speeds, AreThoseOfTheStep) {
  const TestGraph g = layers(2048);
  const Topology topology = mixed("250 GFLOP/s");
  const std::vector<double> speeds =
      deviceSpeeds(g.graph, topology, CostModel(topology));
  ASSERT_EQ(speeds.size(), 3u);
  EXPECT_EQ(speeds[0], 1);
  EXPECT_EQ(speeds[1], 1);
  EXPECT_NEAR(speeds[2], 0.25, 0.01);
  for (const Topology &equal : {mixed("999 GFLOP/s"), chips(3)})
    EXPECT_EQ(deviceSpeeds(g.graph, equal, CostModel(equal)),
              std::vector<double>());
}

TEST(Speeds, BecomeShares) {
  const TestGraph g = layers(64);
  const OpRules &rules = g.graph.op(0).rules;
  const std::vector<double> speeds = {1, 1, 0.25};
  const Configuration config{{{0, 3}}, {0, 1, 2}};
  auto text = [&](double exponent) {
    return sharedBySpeed(config, speeds, exponent).str(rules);
  };
  EXPECT_EQ(text(0), "{n = 3} on 0 1 2");
  EXPECT_EQ(text(0.5), "{n = 2:2:1} on 0 1 2");
  EXPECT_EQ(text(1), "{n = 4:4:1} on 0 1 2");
  // Copies have none, and blocks that are made in the same time neither.
  EXPECT_EQ(sharedBySpeed({{{kReplica, 3}}, {0, 1, 2}}, speeds).str(rules),
            "{replica = 3} on 0 1 2");
  EXPECT_EQ(sharedBySpeed({{{0, 2}, {1, 2}}, {0, 2, 1, 2}}, speeds).str(rules),
            "{n = 2, c = 4:1} on 0 2 1 2");
}

/// With all devices in use, the slow one computes as long as the others.
TEST(Speeds, LetTheSearchUseSlowDevices) {
  const TestGraph g = layers(4096);
  const Topology topology = mixed("250 GFLOP/s");
  const CostModel cost(topology);
  Options options;
  const Result result = searchStrategy(g.graph, topology, cost, options);
  bool hasShares = false;
  for (const Configuration &config : result.strategy)
    for (const GridAxis &axis : config.axes)
      hasShares |= !axis.shares.empty();
  EXPECT_TRUE(hasShares);
  // Two fast devices alone take as long as their halves.
  Space space(g.graph, 3);
  Walker walker(space, cost);
  walker.assign({{{{0, 2}}, {0, 1}}, {{{0, 2}}, {0, 1}}});
  EXPECT_LT(result.quality.makespan, walker.makespan());
}

/// Of twelve heads on eight devices: six times two.
TEST(Speeds, EvenSplitsAreNoDivisors) {
  TestGraph g;
  g.output("out/y",
           g.product("y", g.input("x", {12, 64}), g.state("w", {64, 64})));
  const Space space(g.graph, 8);
  EXPECT_EQ(space.evenSplits(0), (std::vector<GridAxis>{{0, 3}, {0, 6}}));
  EXPECT_EQ(Space(g.graph, 4).evenSplits(0), std::vector<GridAxis>());
  EXPECT_EQ(Space(g.graph, 7).evenSplits(0),
            (std::vector<GridAxis>{{0, 2}, {0, 3}, {0, 4}, {0, 6}}));
}

} // namespace
