//===- SegmentsTest.cpp - segments are made once and found ----------------===//

#include "ffc/Plan/Segments.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/PairMap.h"
#include "ffc/Plan/StepTimer.h"

#include <gtest/gtest.h>

using namespace ffc::plan;
using namespace ffc::plan::testing;

TEST(PairMapTest, FindsWhatWasInserted) {
  PairMap<int> map;
  EXPECT_EQ(map.find(pairKey(0, 0)), nullptr);
  std::vector<const int *> places;
  for (int i = 0; i < 1000; ++i)
    places.push_back(&map.insert(pairKey(i % 7 - 1, i), i));
  EXPECT_EQ(map.size(), 1000u);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(map.find(pairKey(i % 7 - 1, i)), places[i]);
    EXPECT_EQ(*places[i], i);
    EXPECT_EQ(map.find(pairKey(i % 7, i)), nullptr);
  }
  int made = 0;
  for (int turn = 0; turn < 2; ++turn)
    EXPECT_EQ(lookUp(map, 8, 1, [&] { return ++made; }), 1);
}

TEST(SegmentsTest, ConfigurationsHaveNumbers) {
  TestGraph g = trainingGraph();
  CostModel cost(ranks(4, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, 4, cost);
  const Configuration split{{{0, 2}}, {0, 1}}, other{{{0, 2}}, {1, 0}};
  Configuration again = split;
  again.again = true;
  const ConfigId id = table.intern(split);
  EXPECT_EQ(table.intern(split), id);
  EXPECT_NE(table.intern(other), id);
  EXPECT_NE(table.intern(again), id);
  EXPECT_EQ(table.config(id), split);
}

/// Rows 0 to 7 and 8 to 15 of a product, and some of the first ones again.
TEST(SegmentsTest, ReadsApart) {
  TestGraph g;
  const ValueId y = g.product("p", g.input("x", {16, 8}), g.state("w", {8, 8}));
  g.output("a", g.part("first", y, 0, 8));
  g.output("b", g.part("second", y, 8, 8));
  g.output("c", g.part("again", y, 4, 2));
  CostModel cost(ranks(4, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, 4, cost);
  auto made = [&](const Configuration &config) {
    return table.op(0, table.intern(config)).results[0];
  };
  const LayoutId whole = made({{{0, 2}}, {0, 1}});
  EXPECT_FALSE(table.isReadApart(1, 0, whole)) << "read again";
  EXPECT_TRUE(table.isReadApart(2, 0, whole));
  EXPECT_FALSE(table.isReadApart(3, 0, whole)) << "read before";
  EXPECT_FALSE(table.isReadApart(0, 0, whole)) << "has one reader";
  // What one reader gets made of partial sums decides how others do.
  const LayoutId partial = made({{{2, 2}}, {0, 1}});
  ASSERT_TRUE(table.isPartial(partial));
  EXPECT_FALSE(table.isReadApart(2, 0, partial));
  const OpSegment &second = table.op(2, table.intern({{{0, 2}}, {2, 3}}));
  const LayoutId after = table.reshard(partial, second.steps[0].need).after;
  EXPECT_TRUE(!table.isPartial(after) || table.isReadApart(2, 0, after));
}

/// Where readers have nothing to do with each other, one that moves has nobody
/// else's reshard made again.
TEST(SegmentsTest, ReadersApartShareTheirReshards) {
  constexpr int kParts = 64;
  TestGraph g;
  const ValueId y =
      g.product("p", g.input("x", {kParts, 8}), g.state("w", {8, 8}));
  for (int p = 0; p < kParts; ++p)
    g.output("out/" + std::to_string(p),
             g.part("part" + std::to_string(p), y, p, 1));
  CostModel cost(ranks(4, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, 4, cost);
  const ConfigId here = table.intern(Configuration::onDevice(0)),
                 there = table.intern(Configuration::onDevice(1));
  StepTimer timer(table, std::vector<ConfigId>(g.graph.ops.size(), here));
  for (OpId op = 1; op <= kParts; ++op) {
    timer.propose({{op, there}});
    timer.accept();
  }
  // Of each part, on two devices, the operator's and a reshard.
  EXPECT_EQ(table.numSegments(), 4u * kParts + 1);
  std::vector<ConfigId> configs(g.graph.ops.size(), there);
  configs[0] = here;
  EXPECT_EQ(StepTimer(table, configs).makespan(), timer.makespan());
}

TEST(SegmentsTest, FindsOnlyWhatWasMade) {
  TestGraph g = trainingGraph();
  CostModel cost(ranks(4, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, 4, cost);
  const ConfigId one = table.intern(Configuration::onDevice(0)),
                 two = table.intern(Configuration::onDevice(1));
  EXPECT_EQ(table.findOp(0, one), nullptr);
  const OpSegment &made = table.op(0, one);
  EXPECT_EQ(table.findOp(0, one), &made);
  EXPECT_EQ(table.findOp(0, two), nullptr);
  // All of its own tasks.
  Picoseconds time = 0;
  for (const OpSegment::Step &step : made.steps)
    step.tasks.eachPart(
        [&](const TimedTasks::Part &part) { time += part.duration; });
  EXPECT_EQ(made.firstBusy, 0);
  EXPECT_EQ(made.busy, std::vector<Picoseconds>{time});
  const OpSegment &onSecond = table.op(0, two);
  EXPECT_EQ(onSecond.firstBusy, 1);
  EXPECT_EQ(onSecond.busy, made.busy);

  const LayoutId layout = made.results[0];
  const NeedId need = table.lossNeed(table.op(0, two).results[0]);
  EXPECT_EQ(table.findReshard(layout, need), nullptr);
  EXPECT_EQ(table.findStart(layout, need), nullptr);
  EXPECT_EQ(table.findStore(layout, layout), nullptr);
  const ReshardSegment &reshard = table.reshard(layout, need);
  EXPECT_EQ(table.findReshard(layout, need), &reshard);
  const ReshardSegment &store = table.store(layout, layout);
  EXPECT_EQ(table.findStore(layout, layout), &store);
}
