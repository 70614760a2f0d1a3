//===- RecomputationTest.cpp - less memory for more work ------------------===//

#include "ffc/Plan/Recomputation.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/StrategyFile.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Plan/Verifier.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using ::testing::HasSubstr;

namespace {

Strategy onOneDevice(const Graph &graph) {
  return Strategy(graph.ops.size(), Configuration::onDevice(0));
}

/// Two devices.
Topology pair(bool overlaps) {
  return parse(
      "kinds: {k: {target: cpu, flops: {f32: 1 GFLOP/s}, memory: {size: 1 GB, "
      "bandwidth: 1 GB/s}, launch: 0 s, overlap: " +
      std::string(overlaps ? "true" : "false") +
      "}}\ndevices: 2 x k\n"
      "interconnect: {type: switch, bandwidth: 1 GB/s, latency: 0 s}\n");
}

std::string textOf(const std::vector<Turn> &turns, const Graph &graph) {
  std::string text;
  for (const Turn &turn : turns)
    text += (text.empty() ? "" : " ") + graph.op(turn.op).name +
            (turn.parts > 1 ? "." + std::to_string(turn.part) : "") +
            (turn.isAgain ? "'" : "");
  return text;
}

TEST(Recomputation, ComesRightBeforeItsFirstReader) {
  const TestGraph g = products(4);
  Strategy strategy = onOneDevice(g.graph);
  auto turns = [&] {
    return textOf(turnsOf(g.graph, strategy, {}, false), g.graph);
  };
  const std::string plain = "f0 f1 f2 f3 g3 b3 u3 g2 b2 u2 g1 b1 u1 g0 b0 u0";
  EXPECT_EQ(turns(), plain);
  // f3 is read by no weight's gradient but by b3 and g3 through its result.
  strategy[1].again = true;
  EXPECT_EQ(turns(), "f0 f1 f2 f3 g3 b3 u3 f1' g2 b2 u2 g1 b1 u1 g0 b0 u0");
  // What it is computed of is computed again as well.
  strategy[0].again = true;
  EXPECT_EQ(turns(), "f0 f1 f2 f3 g3 b3 u3 f0' f1' g2 b2 u2 g1 b1 u1 g0 b0 u0");
  // Each once.
  strategy[1].again = false;
  EXPECT_EQ(turns(), "f0 f1 f2 f3 g3 b3 u3 g2 b2 u2 f0' g1 b1 u1 g0 b0 u0");
}

TEST(Recomputation, IsDoneForEveryMicroBatch) {
  const TestGraph g = products(2);
  Strategy strategy(g.graph.ops.size());
  for (size_t op = 0; op < strategy.size(); ++op)
    strategy[op] = g.graph.ops[op].role == OpRole::Update
                       ? Configuration::onDevice(0)
                       : Configuration{{{0, 2}}, {0, 0}};
  // Gradients of weights are sums over the samples, dimension 0 of products.
  strategy[0].again = true;
  const std::string text =
      textOf(turnsOf(g.graph, strategy, {2, 2}, false), g.graph);
  EXPECT_THAT(text, HasSubstr("f0.0'"));
  EXPECT_THAT(text, HasSubstr("f0.1'"));
}

TEST(Recomputation, NeedsLessMemoryAndMoreTime) {
  const TestGraph g = products(8);
  const Topology topology = parse(
      "kinds: {k: {target: cpu, flops: {f32: 1 GFLOP/s}, memory: {size: 1 GB, "
      "bandwidth: 1 GB/s}, launch: 0 s, overlap: false}}\ndevices: 1 x k\n");
  const CostModel cost(topology);
  struct Figures {
    int64_t bytes;
    Picoseconds time;
    size_t kernels;
  };
  auto figures = [&](const Strategy &strategy) {
    const Program program = planProgram(g.graph, strategy, 1, cost);
    EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology),
              std::nullopt);
    size_t kernels = 0;
    for (const Action &action : program.devices[0].actions)
      kernels += action.is<KernelAction>();
    return Figures{program.devices[0].arenaBytes,
                   timeProgram(g.graph, strategy, program, cost).makespan,
                   kernels};
  };
  Strategy strategy = onOneDevice(g.graph);
  const Figures kept = figures(strategy);
  for (OpId op : {0, 1, 2, 4, 5, 6})
    strategy[op].again = true;
  const Figures again = figures(strategy);
  EXPECT_EQ(again.kernels, kept.kernels + 6);
  EXPECT_GT(again.time, kept.time);
  // Of eight results of 16 KiB five are not there in the backward pass.
  EXPECT_LE(again.bytes, kept.bytes - 2 * 16384);
}

TEST(Recomputation, SendsParametersAgain) {
  const TestGraph g = products(4);
  const Topology topology = ranks(2);
  const CostModel cost(topology);
  Strategy strategy;
  for (const Op &op : g.graph.ops)
    strategy.push_back(
        {{{op.role == OpRole::Gradient && op.name[0] == 'g' ? 2 : 0, 2}},
         {0, 1}});
  auto plan = [&] {
    Program program = planProgram(g.graph, strategy, 2, cost);
    EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology),
              std::nullopt);
    return program;
  };
  auto gathers = [](const Program &program) {
    size_t count = 0;
    for (const Action &action : program.devices[0].actions)
      if (auto *collective = action.as<CollectiveAction>())
        count += collective->kind == CollectiveKind::AllGather;
    return count;
  };
  const Program kept = plan();
  for (size_t op = 0; op < strategy.size(); ++op)
    strategy[op].again = g.graph.ops[op].role == OpRole::Update;
  const Program again = plan();
  // Each weight is read by its product and by the gradient of its operand.
  EXPECT_EQ(gathers(kept), 4u);
  EXPECT_EQ(gathers(again), 8u);
  EXPECT_LT(again.devices[0].arenaBytes, kept.devices[0].arenaBytes);
  EXPECT_EQ(again.devices[0].stateBytes, kept.devices[0].stateBytes);
}

/// Beside kernels each is under way while the one before is read.
TEST(Recomputation, SendsParametersOneAhead) {
  const TestGraph g = products(4);
  const Topology topology = pair(/*overlaps=*/true);
  const CostModel cost(topology);
  Strategy strategy;
  for (const Op &op : g.graph.ops) {
    strategy.push_back({{{op.name[0] == 'g' ? 2 : 0, 2}}, {0, 1}});
    strategy.back().again = op.role == OpRole::Update;
  }
  const Program program = planProgram(g.graph, strategy, 2, cost);
  EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology), std::nullopt);
  // What is under way when each kernel of the device runs.
  const DeviceProgram &device = program.devices[0];
  std::string text;
  std::vector<int> underWay;
  for (size_t i = 0; i < device.actions.size(); ++i) {
    const Action &action = device.actions[i];
    const auto *collective = action.as<CollectiveAction>();
    if (collective && collective->kind == CollectiveKind::AllGather)
      underWay.push_back(static_cast<int>(i));
    if (const auto *wait = action.as<WaitAction>())
      underWay.erase(std::remove(underWay.begin(), underWay.end(), wait->event),
                     underWay.end());
    const std::string &name = g.graph.op(std::max(action.task.op, 0)).name;
    if (action.is<KernelAction>() && (name[0] == 'f' || name[0] == 'b'))
      text += name + ":" + std::to_string(underWay.size()) + " ";
  }
  EXPECT_EQ(text, "f0:1 f1:1 f2:1 f3:0 b3:1 b2:1 b1:1 b0:0 ");
}

/// Four micro-batches on two devices, which share updates.
Strategy inMicroBatches(const Graph &graph) {
  Strategy strategy;
  for (const Op &op : graph.ops)
    strategy.push_back(op.role == OpRole::Update
                           ? Configuration{{{0, 2}}, {0, 1}}
                           : Configuration{{{op.name[0] == 'g' ? 2 : 0, 8}},
                                           {0, 1, 0, 1, 0, 1, 0, 1}});
  return strategy;
}

/// What happens to sums of gradients on device 0: "R3" begins to get to where
/// it is updated, "A3" is added.
std::string sumsOf(const Program &program, const Graph &graph) {
  std::string text;
  for (const Action &action : program.devices[0].actions) {
    const auto *collective = action.as<CollectiveAction>();
    const auto *copy = action.as<CopyAction>();
    const bool isSent = collective &&
                        collective->kind == CollectiveKind::ReduceScatter,
               isAdded = copy && copy->combine == Reduction::Sum;
    if (isSent || isAdded)
      text += (text.empty() ? "" : " ") + std::string(isSent ? "R" : "A") +
              graph.op(action.task.op).name.substr(1);
  }
  return text;
}

TEST(Recomputation, AddsUpGradientsWhereTheyAreUpdated) {
  const TestGraph g = products(4);
  for (bool overlaps : {false, true}) {
    const Topology topology = pair(overlaps);
    const CostModel cost(topology);
    auto plan = [&](const Strategy &strategy) {
      Program program =
          planProgram(g.graph, strategy, 2, cost, PipelineSchedule{4, 1});
      EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology),
                std::nullopt);
      return program;
    };
    Strategy strategy = inMicroBatches(g.graph);
    const Program kept = plan(strategy);
    EXPECT_EQ(sumsOf(kept, g.graph), "R3 R2 R1 R0") << "after all of them";
    for (size_t op = 0; op < strategy.size(); ++op)
      strategy[op].again = g.graph.ops[op].role == OpRole::Update;
    const Program again = plan(strategy);
    // The first ones are what others are added to. Beside kernels, 3 is there
    // when the third parameter is, which was sent after it, and 0 when the
    // first one of the next micro-batch is.
    EXPECT_EQ(sumsOf(again, g.graph),
              overlaps ? "R3 R2 R1 R0 R3 A3 R2 R1 A2 R0 A1 A0 "
                         "R3 A3 R2 R1 A2 R0 A1 A0 R3 A3 R2 R1 A2 R0 A1 A0"
                       : "R3 R2 R1 R0 R3 R2 A3 R1 A2 R0 A1 "
                         "R3 A0 R2 A3 R1 A2 R0 A1 R3 A0 R2 A3 R1 A2 R0 A1 A0");
    EXPECT_LT(again.devices[0].arenaBytes, kept.devices[0].arenaBytes);
    // Planted faults: what there was of a sum is overwritten.
    for (size_t i = 0; i < again.devices[0].actions.size(); ++i) {
      const auto *copy = again.devices[0].actions[i].as<CopyAction>();
      if (!copy || copy->combine != Reduction::Sum)
        continue;
      Program left = again;
      left.devices[0].actions[i].get<CopyAction>().combine = Reduction::None;
      EXPECT_TRUE(verifyProgram(g.graph, strategy, left, topology)) << i;
    }
  }
}

/// What micro-batches make of an output is offered as they make it.
TEST(Recomputation, KeepsNoOutputs) {
  TestGraph g = products(2);
  g.output("y", g.graph.op(1).results[0]);
  const Topology topology = pair(true);
  const CostModel cost(topology);
  const Strategy strategy = inMicroBatches(g.graph);
  const Program program =
      planProgram(g.graph, strategy, 2, cost, PipelineSchedule{4, 1});
  EXPECT_EQ(verifyProgram(g.graph, strategy, program, topology), std::nullopt);
  std::string text;
  for (const Action &action : program.devices[0].actions) {
    const std::string &name = g.graph.op(std::max(action.task.op, 0)).name;
    if (action.is<ProbeAction>())
      text += "y ";
    else if (action.is<KernelAction>() && name[0] != 'u')
      text += name + " ";
  }
  EXPECT_EQ(text, "f0 f1 y g1 b1 g0 b0 f0 f1 y g1 b1 g0 b0 f0 f1 y g1 b1 g0 "
                  "b0 f0 f1 y g1 b1 g0 b0 ");
}

TEST(Recomputation, IsLegalForForwardOperatorsAndUpdates) {
  const TestGraph g = products(2);
  for (OpId op = 0; op < static_cast<OpId>(g.graph.ops.size()); ++op) {
    Configuration config = Configuration::onDevice(0);
    config.again = true;
    const auto problem = checkConfiguration(g.graph, op, config, 1);
    if (g.graph.op(op).role == OpRole::Gradient)
      EXPECT_EQ(*problem, "'" + g.graph.op(op).name +
                              "' cannot be done again, as updates and forward "
                              "operators can whose results are not stored: "
                              "leave out 'again'");
    else
      EXPECT_EQ(problem, std::nullopt);
  }
  TestGraph stores = products(1);
  stores.store(stores.state("kept", {64, 64}), g.graph.op(0).results[0]);
  EXPECT_FALSE(canBeAgain(stores.graph, 0));
}

TEST(Recomputation, IsAWordOfStrategyFiles) {
  const TestGraph g = products(2);
  std::string error;
  const std::string text = "ffc strategy 1\nf0: on 0 again\nu1: on 1 again\n";
  const auto strategy = parseStrategy(text, "file", g.graph, 2, error);
  ASSERT_TRUE(strategy) << error;
  EXPECT_TRUE((*strategy)[0]->again);
  EXPECT_EQ(printStrategy(g.graph, *strategy), text);
  EXPECT_EQ((*strategy)[0]->str(g.graph.op(0).rules), "{} on 0 again");
  EXPECT_FALSE(parseStrategy("ffc strategy 1\ng0: on 0 again\n", "file",
                             g.graph, 2, error));
  EXPECT_THAT(error, HasSubstr("file:2: 'g0' cannot be done again"));
}

} // namespace
