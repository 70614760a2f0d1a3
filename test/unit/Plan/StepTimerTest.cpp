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

Picoseconds timeOfPlan(const Graph &graph, const Strategy &strategy,
                       int devices, const CostModel &cost) {
  Program program = planProgram(graph, strategy, devices, cost);
  return timeProgram(graph, strategy, program, cost).makespan;
}

/// Devices, and whether they communicate and compute at once.
class StepTimerTest : public ::testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(StepTimerTest, RandomMoves) {
  const auto [devices, overlap] = GetParam();
  TestGraph g = trainingGraph();
  CostModel cost(overlap ? overlapping(devices, "10 ns")
                         : ranks(devices, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, devices, cost);
  std::mt19937 random(devices);
  Strategy strategy = randomStrategy(g.graph, devices, random);
  std::vector<ConfigId> configs;
  for (const Configuration &config : strategy)
    configs.push_back(table.intern(config));
  StepTimer timer(table, configs);
  ASSERT_EQ(timer.makespan(), timeOfPlan(g.graph, strategy, devices, cost));
  for (int move = 0; move < 300; ++move) {
    Strategy next = strategy;
    std::vector<StepTimer::Change> changes;
    for (OpId op = 0; op < static_cast<OpId>(next.size()); ++op)
      if (random() % next.size() < 2) {
        next[op] = randomConfiguration(g.graph, op, devices, random);
        changes.push_back({op, table.intern(next[op])});
      }
    Picoseconds expected = timeOfPlan(g.graph, next, devices, cost);
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
  EXPECT_EQ(timer.proposeFull({}), timer.makespan());
  timer.reject();
}

INSTANTIATE_TEST_SUITE_P(Devices, StepTimerTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5),
                                            ::testing::Bool()));

} // namespace
