//===- OperatorOrderTest.cpp - where updates run in a step ----------------===//

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/StepMemory.h"
#include "ffc/Plan/StepTimer.h"
#include "ffc/Plan/Timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using ::testing::ElementsAre;

namespace {

Strategy onAll(const Graph &graph, int devices) {
  Configuration config{{{kReplica, devices}}, {}};
  for (DeviceId device = 0; device < devices; ++device)
    config.devices.push_back(device);
  return Strategy(graph.ops.size(), config);
}

/// The kernels of device 0 in their order.
std::vector<std::string> kernels(const Graph &graph, const Topology &topology) {
  const int devices = topology.numDevices();
  const Program program =
      planProgram(graph, onAll(graph, devices), devices, CostModel(topology));
  std::vector<std::string> names;
  for (const Action &action : program.devices[0].actions)
    if (action.is<KernelAction>())
      names.push_back(action.name);
  return names;
}

/// Two products, in a graph that updates the second weight before it has the
/// gradient of the first one.
TEST(OperatorOrder, UpdatesFollowTheirGradients) {
  EXPECT_THAT(kernels(products(2).graph, ranks(2)),
              ElementsAre("f0", "f1", "g1", "b1", "u1", "g0", "b0", "u0"));
}

TEST(OperatorOrder, UpdatesComeLastWhereDevicesOverlap) {
  EXPECT_THAT(kernels(products(2).graph, overlapping(2, "1 us")),
              ElementsAre("f0", "f1", "g1", "b1", "g0", "b0", "u1", "u0"));
}

TEST(OperatorOrder, UpdatesComeAfterTheMicroBatches) {
  Graph graph = products(2).graph;
  graph.microBatches = 4;
  EXPECT_THAT(kernels(graph, ranks(2)),
              ElementsAre("f0", "f1", "g1", "b1", "g0", "b0", "u1", "u0"));
}

/// A model may go on with what it has just updated.
TEST(OperatorOrder, ReadersOfUpdatesComeAfterThem) {
  TestGraph g = products(1);
  const ValueId x = g.graph.ops.front().operands[0],
                written = g.graph.ops.back().results[0];
  const ValueId late = g.product("late", x, written);
  g.product("early", x, x);
  g.product("later", late, written);
  EXPECT_THAT(kernels(g.graph, ranks(2)),
              ElementsAre("f0", "g0", "b0", "u0", "late", "early", "later"));
  EXPECT_THAT(kernels(g.graph, overlapping(2, "1 us")),
              ElementsAre("f0", "g0", "b0", "early", "u0", "late", "later"));
}

/// Planner, timer and account of memory follow one order.
TEST(OperatorOrder, IsThatOfTimesAndMemory) {
  const Graph graph = products(3).graph;
  for (const Topology &topology : {ranks(2), overlapping(2, "1 us")}) {
    const CostModel cost(topology);
    const Strategy strategy = onAll(graph, 2);
    const Program program = planProgram(graph, strategy, 2, cost);
    SegmentTable table(graph, 2, cost);
    std::vector<ConfigId> configs;
    for (const Configuration &config : strategy)
      configs.push_back(table.intern(config));
    EXPECT_EQ(StepTimer(table, configs).makespan(),
              timeProgram(graph, strategy, program, cost).makespan);
    const DeviceProgram &device = program.devices[0];
    EXPECT_EQ(stepMemory(table, configs)[0],
              device.stateBytes + device.arenaBytes);
  }
}

} // namespace
