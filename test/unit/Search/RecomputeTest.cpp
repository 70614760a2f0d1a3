//===- RecomputeTest.cpp - strategies that keep less ----------------------===//

#include "ffc/Search/Recompute.h"

#include "PlanJudges.h"
#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/Recomputation.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Plan/Verifier.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace ffc;
using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

Topology withMemory(int64_t bytes) {
  return parse("kinds: {k: {target: cpu, flops: {f32: 1 GFLOP/s}, memory: "
               "{size: " +
               std::to_string(bytes) +
               " B, bandwidth: 1 GB/s}, launch: 0 s, overlap: "
               "false}}\ndevices: 1 x k\n");
}

TEST(Recompute, ChoosesCheckpoints) {
  const TestGraph g = products(9);
  const Topology topology = withMemory(1 << 30);
  const CostModel cost(topology);
  const Recomputable recomputable(g.graph, cost);
  // The last result is read by nobody but gradients.
  EXPECT_THAT(recomputable.operators(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(recomputable.chosen({1, 1}),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  // What the next segment reads is kept, and the last segment.
  EXPECT_THAT(recomputable.chosen({3, 1}).size(),
              ::testing::AllOf(::testing::Ge(3u), ::testing::Le(5u)));
  EXPECT_THAT(recomputable.chosen({3, 1}),
              ::testing::Not(::testing::Contains(8)));
  EXPECT_THAT(recomputable.chosen({1, 0}), IsEmpty());
  EXPECT_THAT(recomputable.chosen({1, 0.5}), ::testing::SizeIs(4));
}

TEST(Recompute, MakesStrategiesFit) {
  const TestGraph g = products(16);
  const Strategy alone(g.graph.ops.size(), Configuration::onDevice(0));
  const Topology large = withMemory(1 << 30);
  const CostModel unlimited(large);
  const Program whole = planProgram(g.graph, alone, 1, unlimited);
  const int64_t bytes =
      whole.devices[0].stateBytes + whole.devices[0].arenaBytes;
  const Picoseconds time =
      timeProgram(g.graph, alone, whole, unlimited).makespan;
  Picoseconds previous = time;
  for (int64_t less : {2, 4, 8}) {
    const Topology topology = withMemory(bytes - less * 16384);
    const CostModel cost(topology);
    const auto found =
        bestRecomputation(*judgeOf(g, topology, cost),
                          {{"alone", alone, {}, time}}, {10 * time, 2});
    ASSERT_TRUE(found) << less;
    EXPECT_TRUE(found->quality.fits());
    EXPECT_GE(found->quality.makespan, previous);
    EXPECT_LT(found->quality.makespan, time + time / 2);
    EXPECT_EQ(found->describe(), "alone, " + std::to_string(found->operators) +
                                     " operators computed again");
    // Its figures are those of its plan, which is safe.
    const Program program = planProgram(g.graph, found->strategy, 1, cost);
    EXPECT_EQ(verifyProgram(g.graph, found->strategy, program, topology),
              std::nullopt);
    EXPECT_EQ(timeProgram(g.graph, found->strategy, program, cost).makespan,
              found->quality.makespan);
    // No faster one is worse than an answer that is known.
    EXPECT_FALSE(bestRecomputation(*judgeOf(g, topology, cost),
                                   {{"alone", alone, {}, time}},
                                   found->quality));
    previous = found->quality.makespan;
  }
  // Parameters alone take more: what came closest.
  const Topology small = withMemory(whole.devices[0].stateBytes);
  const CostModel cost(small);
  const auto closest = bestRecomputation(
      *judgeOf(g, small, cost), {{"alone", alone, {}, time}}, {time, 9});
  ASSERT_TRUE(closest);
  EXPECT_FALSE(closest->quality.fits());
  EXPECT_LT(closest->quality.load,
            static_cast<double>(bytes) /
                static_cast<double>(whole.devices[0].stateBytes));
}

TEST(Recompute, SendsParametersAgain) {
  const TestGraph g = products(8);
  Strategy shared;
  for (const Op &op : g.graph.ops)
    shared.push_back({{{op.name[0] == 'g' ? 2 : 0, 2}}, {0, 1}});
  const Topology large = ranks(2);
  const CostModel unlimited(large);
  const Program whole = planProgram(g.graph, shared, 2, unlimited);
  const Picoseconds time =
      timeProgram(g.graph, shared, whole, unlimited).makespan;
  const Topology topology = large.withMemory(
      whole.devices[0].stateBytes + whole.devices[0].arenaBytes - 60000);
  const CostModel cost(topology);
  const auto found = bestRecomputation(
      *judgeOf(g, topology, cost), {{"shared", shared, {}, time}}, {time, 2});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->quality.fits());
  EXPECT_EQ(found->parameters, 8);
  EXPECT_THAT(found->describe(),
              ::testing::EndsWith("8 parameters sent again"));
}

} // namespace
