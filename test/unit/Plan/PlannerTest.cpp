//===- PlannerTest.cpp - reshard paths, arena, timing ---------------------===//

#include "ffc/Plan/Planner.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Reshard.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Plan/Topology.h"
#include "ffc/Plan/Verifier.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

struct PlannerTest : ::testing::Test {
  Program plan(const Strategy &strategy, int devices = 4) {
    CostModel cost(ranks(devices));
    return planProgram(g.graph, strategy, devices, cost);
  }
  /// Collectives of device 0, by kind.
  static std::string collectives(const Program &program) {
    std::string text;
    for (const Action &action : program.devices[0].actions)
      if (const auto *collective = action.as<CollectiveAction>())
        text += std::to_string(static_cast<int>(collective->kind));
      else if (action.is<ExchangeAction>())
        text += "x";
    return text;
  }
  TestGraph g;
};

const Configuration kWhole{{}, {0}};
Configuration split(int dim, int64_t degree) {
  Configuration config{{{dim, degree}}, {}};
  for (int64_t d = 0; d < degree; ++d)
    config.devices.push_back(static_cast<DeviceId>(d));
  return config;
}

TEST_F(PlannerTest, NothingMovesOnOneDevice) {
  g = trainingGraph();
  Program program = plan(Strategy(g.graph.ops.size(), kWhole), 1);
  for (const Action &action : program.devices[0].actions)
    EXPECT_TRUE(action.is<KernelAction>() || action.is<ProbeAction>());
  // Both weights live in the state section: 10 x 8 and 8 x 6 floats, each
  // rounded up to 64 bytes.
  EXPECT_EQ(program.devices[0].stateBytes, 320 + 192);
}

/// Copies of device 0.
int copies(const Program &program) {
  return static_cast<int>(std::count_if(
      program.devices[0].actions.begin(), program.devices[0].actions.end(),
      [](const Action &a) { return a.is<CopyAction>(); }));
}

TEST_F(PlannerTest, StatesAreOverwrittenAfterAllWhoReadThem) {
  ValueId x = g.input("x", {12, 8}), s = g.state("s", {12, 8});
  g.output("out/y", g.sum("y", x, s));
  g.store(s, g.sum("new", x, s));
  const Program program = plan({kWhole, kWhole}, 1);
  EXPECT_EQ(copies(program), 0);
  EXPECT_EQ(program.devices[0].stateBytes, 12 * 8 * 4);
  EXPECT_FALSE(verifyProgram(g.graph, {kWhole, kWhole}, program, ranks(1)));
}

TEST_F(PlannerTest, StatesAreCopiedWhereOthersReadThemLater) {
  ValueId x = g.input("x", {12, 8}), s = g.state("s", {12, 8});
  g.store(s, g.sum("new", x, s));
  g.output("out/y", g.sum("y", x, s));
  EXPECT_EQ(copies(plan({kWhole, kWhole}, 1)), 1);
}

TEST_F(PlannerTest, StatesThatOthersReadInOtherPartsAreOverwritten) {
  ValueId x = g.input("x", {12, 8}), s = g.state("s", {12, 8});
  g.output("out/y", g.sum("y", x, s));
  g.store(s, g.sum("new", x, s));
  const Strategy strategy = {split(1, 4), split(0, 2)};
  const Program program = plan(strategy);
  EXPECT_FALSE(verifyProgram(g.graph, strategy, program, ranks(4)));
  for (const Action &action : program.devices[0].actions) {
    EXPECT_FALSE(std::holds_alternative<TaskId::Store>(action.task.what));
  }
}

TEST_F(PlannerTest, OutputsOfStatesAreWhatStepsBeginWith) {
  ValueId x = g.input("x", {12, 8}), s = g.state("s", {12, 8});
  g.output("out/s", s);
  g.store(s, g.sum("new", x, s));
  EXPECT_EQ(copies(plan({kWhole}, 1)), 1);
}

TEST_F(PlannerTest, PartialSumsReadByAllAreAllReduced) {
  ValueId x = g.input("x", {256, 256}), w = g.state("w", {256, 256});
  g.output("out/y", g.window("y", g.product("p", x, w)));
  EXPECT_EQ(collectives(plan({split(2, 4), split(kReplica, 4)})),
            std::to_string(static_cast<int>(CollectiveKind::AllReduce)));
}

TEST_F(PlannerTest, PartialSumsReadInBlocksAreReduceScattered) {
  ValueId x = g.input("x", {256, 256}), w = g.state("w", {256, 256});
  ValueId p = g.product("p", x, w);
  g.output("out/y", g.product("y", p, g.state("v", {256, 8})));
  EXPECT_EQ(collectives(plan({split(2, 4), split(0, 4)})),
            std::to_string(static_cast<int>(CollectiveKind::ReduceScatter)));
}

TEST_F(PlannerTest, BlocksReadWholeAreGathered) {
  ValueId x = g.input("x", {256, 256}), w = g.state("w", {256, 256});
  ValueId p = g.product("p", x, w);
  g.output("out/y", g.product("y", p, g.state("v", {256, 8})));
  EXPECT_EQ(collectives(plan({split(0, 4), split(1, 4)})),
            std::to_string(static_cast<int>(CollectiveKind::AllGather)));
}

/// Whatever lies next to each other: blocks 0 1 0 1, or 0 0 1 1.
TEST_F(PlannerTest, CopiesOfBlocksAreGatheredByGroups) {
  ValueId x = g.input("x", {256, 256}), w = g.state("w", {256, 256});
  ValueId p = g.product("p", x, w);
  g.output("out/y", g.product("y", p, g.state("v", {256, 8})));
  const std::vector<DeviceId> all = {0, 1, 2, 3};
  using Groups = std::vector<std::vector<DeviceId>>;
  const auto gather =
      std::to_string(static_cast<int>(CollectiveKind::AllGather));
  Program program = plan({{{{kReplica, 2}, {0, 2}}, all}, split(1, 4)});
  EXPECT_EQ(collectives(program), gather);
  EXPECT_EQ(program.groups, (Groups{{0, 1}, {2, 3}}));
  program = plan({{{{0, 2}, {kReplica, 2}}, all}, split(1, 4)});
  EXPECT_EQ(collectives(program), gather);
  EXPECT_EQ(program.groups, (Groups{{0, 2}, {1, 3}}));
}

TEST_F(PlannerTest, OneHolderReadByAllIsBroadcast) {
  ValueId x = g.input("x", {1024, 256}), w = g.state("w", {256, 1024});
  ValueId p = g.product("p", x, w);
  g.output("out/y", g.product("y", p, g.state("v", {1024, 8})));
  EXPECT_EQ(collectives(plan({kWhole, split(1, 4)})),
            std::to_string(static_cast<int>(CollectiveKind::Broadcast)));
}

TEST_F(PlannerTest, UnevenBlocksAreExchanged) {
  ValueId x = g.input("x", {10, 16}), w = g.state("w", {16, 16});
  ValueId p = g.product("p", x, w);
  g.output("out/y", g.product("y", p, g.state("v", {16, 8})));
  EXPECT_EQ(collectives(plan({split(0, 3), split(1, 3)}, 3)), "x");
}

/// Four blocks of samples on device 0 add up their partial gradients: kernels
/// that can do so where the first one is, others by copies.
TEST_F(PlannerTest, PointsOnOneDeviceAccumulate) {
  for (bool inPlace : {true, false}) {
    g = trainingGraph();
    for (Op &op : g.graph.ops)
      op.rules.schedules[0].phases[0].writes[0].mayAccumulate &= inPlace;
    Configuration blocks{{{0, 4}}, {0, 0, 0, 0}};
    std::vector<std::optional<Configuration>> given(g.graph.ops.size());
    given[0] = blocks;
    Program program = plan(completeStrategy(g.graph, given), 1);
    int copies = 0, kernels = 0;
    for (const Action &action : program.devices[0].actions) {
      if (const auto *copy = action.as<CopyAction>())
        copies += copy->combine == Reduction::Sum;
      if (const auto *kernel = action.as<KernelAction>())
        kernels += !kernel->addsTo.empty();
    }
    EXPECT_EQ(kernels, inPlace ? 3 : 0);
    EXPECT_EQ(copies, inPlace ? 0 : 3);
  }
}

TEST_F(PlannerTest, OutputsMayHaveSeveralNames) {
  ValueId y = g.window("y", g.input("x", {8, 8}));
  g.output("out/y", y);
  g.output("loss", y);
  Program program = plan({kWhole}, 1);
  std::vector<std::string> offered;
  for (const Action &action : program.devices[0].actions)
    if (const auto *probe = action.as<ProbeAction>())
      offered.push_back(probe->output);
  EXPECT_EQ(offered, (std::vector<std::string>{"out/y", "loss"}));
}

/// A model that computes its own loss may give it the shape [1, 1].
TEST_F(PlannerTest, LossOfOneElementOfAnyRank) {
  g.graph.loss = g.window("y", g.input("x", {1, 1}));
  Program program = plan({split(kReplica, 2)}, 2);
  for (const DeviceProgram &device : program.devices)
    EXPECT_EQ(device.buffers[device.loss].name, "y");
}

TEST_F(PlannerTest, ArenaBytesAreReused) {
  ValueId v = g.input("x", {64, 64});
  for (int i = 0; i < 10; ++i)
    v = g.window("s" + std::to_string(i), v);
  g.output("out/y", v);
  Program program = plan(Strategy(10, kWhole), 1);
  EXPECT_EQ(program.devices[0].arenaBytes, 2 * 64 * 64 * 4);
}

/// A longer transfer never makes the step shorter, and twice the work on one
/// device takes twice the time of half the work each on two that do not talk.
TEST_F(PlannerTest, TimingIsMonotone) {
  g = trainingGraph();
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<std::optional<Configuration>> given(g.graph.ops.size());
    for (size_t op = 0; op < given.size(); ++op)
      given[op] =
          randomConfiguration(g.graph, static_cast<OpId>(op), 4, random);
    Strategy strategy = completeStrategy(g.graph, given);
    CostModel fast(ranks(4));
    CostModel slow(ranks(4, "1 GB/s", "10 us"));
    Program program = planProgram(g.graph, strategy, 4, fast);
    EXPECT_LE(timeProgram(g.graph, strategy, program, fast).makespan,
              timeProgram(g.graph, strategy, program, slow).makespan);
  }
}

TEST(Subtract, GivesDisjointRest) {
  Box box{{0, 4}, {0, 4}};
  int64_t volume = 0;
  for (const Box &part : subtract(box, Box{{1, 3}, {2, 6}})) {
    volume += part.volume();
    EXPECT_TRUE(part.intersect(Box{{1, 3}, {2, 4}}).empty());
  }
  EXPECT_EQ(volume, 16 - 4);
  EXPECT_TRUE(subtract(box, Box{{0, 9}, {0, 9}}).empty());
  EXPECT_EQ(subtract(box, Box{{7, 9}, {0, 9}}).size(), 1u);
}

} // namespace
