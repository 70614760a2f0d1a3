//===- ScheduledStepTest.cpp - steps with schedules against their plans ---===//

#include "ffc/Plan/ScheduledStep.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/StrategyFile.h"
#include "ffc/Plan/Timing.h"

#include <gtest/gtest.h>

#include <tuple>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// Devices; whether they communicate and compute at once; whether something is
/// done again.
class ScheduledStepTest
    : public ::testing::TestWithParam<std::tuple<int, bool, bool>> {};

TEST_P(ScheduledStepTest, TakesWhatItsPlanTakes) {
  const auto [devices, overlaps, again] = GetParam();
  const TestGraph g = stack(5);
  const CostModel cost(overlaps ? overlapping(devices, "10 ns")
                                : ranks(devices, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, devices, cost);
  std::mt19937 random(devices);
  int compared = 0;
  double bounds = 0, plans = 0;
  for (int trial = 0; trial < 100; ++trial) {
    PipelineSchedule schedule;
    const Strategy strategy =
        again ? randomRecomputation(g.graph, devices, schedule, random)
              : randomPipeline(g.graph, devices, schedule, random);
    const ScheduledStep step(table, strategy, schedule);
    const auto time = step.time();
    const auto bytes = step.memory();
    ASSERT_EQ(time.has_value(), bytes.has_value());
    if (!time)
      continue;
    ++compared;
    const Program program =
        planProgram(g.graph, strategy, devices, cost, schedule);
    EXPECT_EQ(*time, timeProgram(g.graph, strategy, program, cost).makespan)
        << "trial " << trial << ", " << schedule.str() << "\n"
        << str(g.graph, strategy);
    for (int d = 0; d < devices; ++d) {
      const DeviceProgram &device = program.devices[d];
      EXPECT_LE((*bytes)[d], device.stateBytes + device.arenaBytes)
          << "device " << d << ", trial " << trial << "\n"
          << str(g.graph, strategy);
      bounds += static_cast<double>((*bytes)[d]);
      plans += static_cast<double>(device.stateBytes + device.arenaBytes);
    }
  }
  EXPECT_GE(compared, 20);
  EXPECT_GT(bounds, 0.85 * plans);
}

INSTANTIATE_TEST_SUITE_P(Devices, ScheduledStepTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5),
                                            ::testing::Bool(),
                                            ::testing::Bool()));

/// Products with as many samples as micro-batches can be made of.
Strategy pipelined(const Graph &graph, int microBatches) {
  PartialStrategy given(graph.ops.size());
  for (size_t op = 0; op < graph.ops.size(); ++op)
    if (graph.ops[op].role == OpRole::Forward)
      given[op] = Configuration{{{0, microBatches}},
                                std::vector<DeviceId>(microBatches, 0)};
  return completeStrategy(graph, given);
}

TEST(ScheduledStep, SaysNothingOfUnequalMicroBatches) {
  const TestGraph g = products(4); // of 64 samples
  const CostModel cost(ranks(1, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, 1, cost);
  EXPECT_TRUE(
      ScheduledStep(table, pipelined(g.graph, 4), {4, 1}).time().has_value());
  const ScheduledStep step(table, pipelined(g.graph, 5), {5, 1});
  EXPECT_EQ(step.time(), std::nullopt);
  EXPECT_EQ(step.memory(), std::nullopt);
}

/// What is made for a step does not grow with its micro-batches.
TEST(ScheduledStep, MicroBatchesShareSegments) {
  const TestGraph g = products(8);
  const CostModel cost(ranks(1, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, 1, cost);
  auto madeFor = [&](int microBatches) {
    const size_t before = table.numSegments();
    EXPECT_TRUE(ScheduledStep(table, pipelined(g.graph, microBatches),
                              {microBatches, 1})
                    .time());
    return table.numSegments() - before;
  };
  const size_t atFirst = madeFor(2), made = madeFor(16);
  EXPECT_GT(made, 0u);
  EXPECT_LE(made, atFirst);
  EXPECT_EQ(madeFor(64), made);
}

/// An operator that reads a value twice has a segment of its own.
TEST(ScheduledStep, WhatIsReadTwiceIsSentOnce) {
  TestGraph g;
  const ValueId x = g.product("x", g.input("in", {8, 8}), g.state("w", {8, 8}));
  const ValueId y = g.product("y", x, g.state("v", {8, 8}));
  const ValueId other = g.sum("other", x, y);
  const ValueId twice = g.sum("twice", y, y);
  g.output("out/other", other);
  g.output("out/twice", twice);
  Strategy strategy(g.graph.ops.size(), Configuration::onDevice(0));
  for (size_t op = 0; op < strategy.size(); ++op)
    if (g.graph.ops[op].name == "other" || g.graph.ops[op].name == "twice")
      strategy[op] = Configuration::onDevice(1);
  const CostModel cost(ranks(2, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, 2, cost);
  const Program program = planProgram(g.graph, strategy, 2, cost);
  EXPECT_EQ(ScheduledStep(table, strategy, {}).time(),
            timeProgram(g.graph, strategy, program, cost).makespan);
}

} // namespace
