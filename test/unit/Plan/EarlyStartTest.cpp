//===- EarlyStartTest.cpp - collectives beside kernels, in batches --------===//

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/StepMemory.h"
#include "ffc/Plan/Timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

constexpr int kDevices = 4;

/// Data-parallel training of four layers, alike but for one.
class EarlyStartTest : public ::testing::Test {
protected:
  void plan(const std::string &latency) {
    topology = overlapping(kDevices, latency);
    cost.emplace(*topology);
    for (OpId op = 0; op < static_cast<OpId>(g.graph.ops.size()); ++op) {
      const int sample = op < 4                                    ? 0
                         : g.graph.op(op).role == OpRole::Gradient ? 2
                                                                   : kReplica;
      strategy.push_back({{{sample, kDevices}}, {0, 1, 2, 3}});
    }
    program = planProgram(g.graph, strategy, kDevices, *cost);
  }

  /// "p3.backward", "reduce p4 in 0" and so on of device 0: kernels, and
  /// collectives with what they are for and the number of the batch.
  std::vector<std::string> order() const {
    const char *const kinds[] = {"reduce ", "gather ", "scatter ",
                                 "broadcast "};
    std::vector<std::string> lines;
    for (const Action &action : program.devices[0].actions) {
      if (action.is<KernelAction>())
        lines.push_back(action.name);
      if (const auto *collective = action.as<CollectiveAction>())
        lines.push_back(kinds[int(collective->kind)] +
                        action.name.substr(0, 2) +
                        (collective->batch < 0
                             ? ""
                             : " in " + std::to_string(collective->batch)));
    }
    return lines;
  }

  TestGraph g = stack(4);
  Strategy strategy;
  std::optional<Topology> topology;
  std::optional<CostModel> cost;
  Program program;
};

TEST_F(EarlyStartTest, LongLatenciesArePaidOnce) {
  plan("1 ms");
  EXPECT_THAT(order(), ::testing::ElementsAre(
                           "p1", "p2", "p3", "p4", "p4.backward", "p3.backward",
                           "p2.backward", "p1.backward", "reduce p4 in 0",
                           "reduce p3 in 0", "reduce p2 in 0", "reduce p1 in 0",
                           "p4.update", "p3.update", "p2.update", "p1.update"));
  ASSERT_EQ(program.batches.size(), 1u);
  EXPECT_EQ(program.batches[0].bytes, 4 * (3 * 16 * 16 + 8 * 16));
  // The first one takes as long as all together, and the others no time.
  Timeline times = timeProgram(g.graph, strategy, program, *cost);
  std::vector<Picoseconds> durations;
  const DeviceProgram &device = program.devices[0];
  for (size_t a = 0; a < device.actions.size(); ++a)
    if (device.actions[a].is<CollectiveAction>())
      durations.push_back(times.devices[0][a].end - times.devices[0][a].start);
  EXPECT_THAT(durations,
              ::testing::ElementsAre(cost->collective(CollectiveKind::AllReduce,
                                                      {0, 1, 2, 3},
                                                      program.batches[0].bytes),
                                     0, 0, 0));
}

TEST_F(EarlyStartTest, ShortLatenciesAreNotWaitedFor) {
  plan("0 ns");
  EXPECT_THAT(order(), ::testing::ElementsAre(
                           "p1", "p2", "p3", "p4", "p4.backward", "reduce p4",
                           "p3.backward", "reduce p3", "p2.backward",
                           "reduce p2", "p1.backward", "reduce p1", "p4.update",
                           "p3.update", "p2.update", "p1.update"));
  EXPECT_TRUE(program.batches.empty());
}

/// A batch is full when latencies are a fifth of its time.
TEST_F(EarlyStartTest, FullBatchesStart) {
  const int64_t bytes = 4 * 16 * 16;
  CostModel free(overlapping(kDevices, "0 ns"));
  const Picoseconds sending =
      free.collective(CollectiveKind::AllReduce, {0, 1, 2, 3}, bytes);
  // Of two messages; a ring of four has six hops, and a tree four.
  plan(std::to_string(2 * sending / 4 / 4 - 1) + " ps");
  EXPECT_THAT(order(), ::testing::ElementsAre(
                           "p1", "p2", "p3", "p4", "p4.backward", "p3.backward",
                           "reduce p4 in 0", "reduce p3 in 0", "p2.backward",
                           "p1.backward", "reduce p2 in 1", "reduce p1 in 1",
                           "p4.update", "p3.update", "p2.update", "p1.update"));
}

/// Shares of updates are gathered for the next step in batches too.
TEST_F(EarlyStartTest, StatesAreGatheredTogether) {
  for (OpId op = 8; op < 12; ++op)
    ASSERT_EQ(g.graph.op(op).role, OpRole::Update);
  plan("1 ms");
  for (OpId op = 8; op < 12; ++op)
    strategy[op].axes = {{0, kDevices}};
  program = planProgram(g.graph, strategy, kDevices, *cost);
  EXPECT_THAT(order(), ::testing::ElementsAre(
                           "gather w1", "p1", "gather w2 in 0",
                           "gather w3 in 0", "gather w4 in 0", "p2", "p3", "p4",
                           "p4.backward", "p3.backward", "p2.backward",
                           "p1.backward", "scatter p4 in 1", "scatter p3 in 1",
                           "scatter p2 in 1", "scatter p1 in 1", "p4.update",
                           "p3.update", "p2.update", "p1.update"));
}

/// Nobody waits behind what is needed later.
TEST_F(EarlyStartTest, StatesKeepTheirOrder) {
  plan("1 ms");
  for (OpId op = 8; op < 12; ++op)
    strategy[op].axes = {{0, kDevices}};
  strategy[9].axes = {{kReplica, 2}, {0, 2}}; // of w3
  program = planProgram(g.graph, strategy, kDevices, *cost);
  std::vector<std::string> first = order();
  first.resize(6);
  EXPECT_THAT(first, ::testing::ElementsAre("gather w1", "p1", "gather w2",
                                            "gather w3", "gather w4", "p2"));
}

} // namespace
