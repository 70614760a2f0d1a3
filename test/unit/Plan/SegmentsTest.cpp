//===- SegmentsTest.cpp - segments are made once and found ----------------===//

#include "ffc/Plan/Segments.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/PairMap.h"

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
