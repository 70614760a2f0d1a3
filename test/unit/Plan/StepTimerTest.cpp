//===- StepTimerTest.cpp - delta timing equals timing the whole plan ------===//

#include "ffc/Plan/StepTimer.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Timing.h"

#include <gtest/gtest.h>

#include <tuple>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// Counts its batches of collectives too.
Picoseconds timeOfPlan(const Graph &graph, const Strategy &strategy,
                       int devices, const CostModel &cost, size_t &batches) {
  Program program = planProgram(graph, strategy, devices, cost);
  batches += program.batches.size();
  return timeProgram(graph, strategy, program, cost).makespan;
}

/// The samples of any operator of these graphs on all devices.
Configuration dataParallel(const Op &op, int devices) {
  const int dim = op.role == OpRole::Gradient ? 2
                  : op.role == OpRole::Update ? kReplica
                                              : 0;
  Configuration config{{{dim, devices}}, {}};
  for (int d = 0; d < devices; ++d)
    config.devices.push_back(d);
  return config;
}

std::vector<ConfigId> idsOf(SegmentTable &table, const Strategy &strategy) {
  std::vector<ConfigId> configs;
  for (const Configuration &config : strategy)
    configs.push_back(table.intern(config));
  return configs;
}

/// Sums of a value and what they were in the step before: one that overwrites
/// its state, and one that another operator stands in the way of.
void addStatistics(TestGraph &g, ValueId value) {
  const Shape shape = g.graph.value(value).type.shape;
  const ValueId alone = g.state("alone", shape), read = g.state("read", shape);
  g.store(alone, g.sum("alone.sum", value, alone));
  g.store(read, g.sum("read.sum", value, read));
  g.output("out/read", g.sum("reader", value, read));
}

/// Devices; the latency of those that communicate and compute at once, or
/// nothing; a chain of layers or the smaller graph; micro-batches of a step.
class StepTimerTest : public ::testing::TestWithParam<
                          std::tuple<int, const char *, bool, int>> {};

TEST_P(StepTimerTest, RandomMoves) {
  const auto [devices, latency, layers, microBatches] = GetParam();
  TestGraph g = layers ? stack(5) : trainingGraph();
  if (microBatches > 1)
    g.graph.microBatches = microBatches;
  else if (!layers)
    addStatistics(g, g.graph.op(0).results[0]);
  CostModel cost(*latency ? overlapping(devices, latency)
                          : ranks(devices, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, devices, cost);
  std::mt19937 random(devices + 1);
  Strategy strategy = randomStrategy(g.graph, devices, random);
  const std::vector<ConfigId> configs = idsOf(table, strategy);
  StepTimer timer(table, configs);
  size_t batches = 0;
  ASSERT_EQ(timer.makespan(),
            timeOfPlan(g.graph, strategy, devices, cost, batches));
  for (int move = 0; move < 300; ++move) {
    Strategy next = strategy;
    std::vector<StepTimer::Change> changes;
    const bool alike = random() % 3 == 0;
    for (OpId op = 0; op < static_cast<OpId>(next.size()); ++op)
      if (random() % next.size() < (alike ? next.size() - 2 : 2)) {
        next[op] = alike ? dataParallel(g.graph.op(op), devices)
                         : randomConfiguration(g.graph, op, devices, random);
        changes.push_back({op, table.intern(next[op])});
      }
    Picoseconds expected = timeOfPlan(g.graph, next, devices, cost, batches);
    Picoseconds before = timer.makespan();
    if (random() % 4 == 0) {
      // Stopped early or not, what is over the limit is over it.
      Picoseconds limit = before - before / 8;
      Picoseconds found = timer.propose(changes, limit);
      EXPECT_EQ(found > limit, expected > limit);
      timer.reject();
      continue;
    }
    ASSERT_EQ(timer.propose(changes), expected)
        << "seed " << devices << ", move " << move;
    if (random() % 2) {
      timer.accept();
      strategy = next;
      ASSERT_EQ(timer.makespan(), expected);
    } else {
      timer.reject();
      ASSERT_EQ(timer.makespan(), before);
    }
  }
  // From nothing, and from another strategy, with a limit that is met or not.
  const Picoseconds last = timer.makespan();
  EXPECT_EQ(timer.restart(timer.configs()), last);
  timer.restart(configs);
  const std::vector<ConfigId> now = idsOf(table, strategy);
  EXPECT_GT(timer.restart(now, last - 1), last - 1);
  EXPECT_EQ(timer.restart(now, last), last);
  EXPECT_EQ(timer.makespan(), last);
  if (layers && *latency && devices > 1) {
    EXPECT_GT(batches, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Devices, StepTimerTest,
    ::testing::Combine(::testing::Values(1, 2, 3, 5),
                       ::testing::Values("", "10 ns", "100 ns"),
                       ::testing::Bool(), ::testing::Values(1, 3)));

} // namespace
