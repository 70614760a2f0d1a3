//===- SharedStateTest.cpp - two steps on one state -----------------------===//

#include "ffc/Plan/SharedState.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Verifier.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// The forward operators of trainingGraph(), and a constant of their own.
TestGraph evaluationGraph() {
  TestGraph g;
  const ValueId x = g.input("x", {12, 10}), w1 = g.state("w1", {10, 8}),
                w2 = g.state("w2", {8, 6}), own = g.state("own", {6, 4});
  const ValueId y = g.product("p2", g.window("s", g.product("p1", x, w1)), w2);
  g.output("out/y", g.product("p3", y, own));
  return g;
}

Program planned(const Graph &graph, const Strategy &strategy, int devices) {
  const CostModel cost(ranks(devices));
  return planProgram(graph, strategy, devices, cost);
}

const Buffer *find(const Graph &graph, const DeviceProgram &device,
                   const std::string &name) {
  for (const StateSlot &slot : device.states)
    if (graph.states[slot.state].name == name)
      return &device.buffers[slot.buffer];
  return nullptr;
}

TEST(SharedState, ReadsParametersWhereTheyAreTrained) {
  const TestGraph training = trainingGraph();
  std::mt19937 random(11);
  for (int devices : {1, 2, 3, 4})
    for (int trial = 0; trial < 20; ++trial) {
      const Strategy trained = randomStrategy(training.graph, devices, random);
      const Program owner = planned(training.graph, trained, devices);
      TestGraph evaluation = evaluationGraph();
      keepStatesOf(training.graph, owner, evaluation.graph);
      // Wherever operators are.
      const Strategy strategy =
          randomStrategy(evaluation.graph, devices, random);
      Program program = planned(evaluation.graph, strategy, devices);
      shareState(training.graph, owner, evaluation.graph, program);
      EXPECT_EQ(
          verifyProgram(evaluation.graph, strategy, program, ranks(devices)),
          std::nullopt);
      for (int d = 0; d < devices; ++d) {
        const DeviceProgram &theirs = owner.devices[d],
                            &mine = program.devices[d];
        EXPECT_GE(mine.stateBytes, theirs.stateBytes);
        for (const StateSlot &slot : mine.states) {
          const State &state = evaluation.graph.states[slot.state];
          const Buffer &buffer = mine.buffers[slot.buffer];
          // What is trained is nowhere but where it is trained.
          const bool isTheirs = std::any_of(
              theirs.states.begin(), theirs.states.end(),
              [&](const StateSlot &other) {
                const Buffer &home = theirs.buffers[other.buffer];
                return training.graph.states[other.state].name == state.name &&
                       home.region == buffer.region &&
                       home.offset == buffer.offset;
              });
          if (!state.kept.empty())
            EXPECT_TRUE(isTheirs) << state.name;
          if (!isTheirs && !buffer.region.empty())
            EXPECT_GE(buffer.offset, theirs.stateBytes) << state.name;
        }
        if (const Buffer *own = find(evaluation.graph, mine, "own"))
          EXPECT_GE(own->offset, theirs.stateBytes);
      }
    }
}

} // namespace
