//===- MicroBatchesTest.cpp - steps that go over several micro-batches ----===//

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/StepMemory.h"
#include "ffc/Plan/TimeUse.h"
#include "ffc/Plan/Timing.h"

#include <gtest/gtest.h>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// A data-parallel plan of three layers with its times.
struct Timed {
  Timed(const Topology &on, int microBatches)
      : graph(stack(3).graph), topology(on), cost(topology) {
    const int devices = on.numDevices();
    if (microBatches > 1)
      graph.microBatches = microBatches;
    for (const Op &op : graph.ops) {
      const int sample = op.role == OpRole::Forward    ? 0
                         : op.role == OpRole::Gradient ? 2
                                                       : kReplica;
      strategy.push_back({{{sample, devices}}, {}});
      for (DeviceId device = 0; device < devices; ++device)
        strategy.back().devices.push_back(device);
    }
    program = planProgram(graph, strategy, devices, cost);
    times = timeProgram(graph, strategy, program, cost);
  }

  int64_t collectives(bool inPasses) const {
    const DeviceProgram &device = program.devices[0];
    const auto middle = device.actions.begin() + device.microBatchActions;
    return std::count_if(
        inPasses ? device.actions.begin() : middle,
        inPasses ? middle : device.actions.end(),
        [](const Action &a) { return a.is<CollectiveAction>(); });
  }

  Graph graph;
  Topology topology;
  CostModel cost;
  Strategy strategy;
  Program program;
  Timeline times;
};

/// Devices that compute or communicate, and that do both.
std::vector<Topology> machines() {
  return {ranks(2, "10 GB/s", "1 ns"), overlapping(2, "1 ns")};
}

TEST(MicroBatches, OneReductionForAllOfThem) {
  for (const Topology &machine : machines()) {
    const Timed timed(machine, 4);
    EXPECT_EQ(timed.collectives(/*inPasses=*/true), 0);
    EXPECT_EQ(timed.collectives(/*inPasses=*/false), 3);
    const DeviceProgram &device = timed.program.devices[0];
    for (const Action &action : device.actions) {
      if (const auto *collective = action.as<CollectiveAction>()) {
        EXPECT_EQ(device.buffers[collective->src].section, Section::State);
      }
    }
  }
}

/// Each micro-batch more takes as long as the first, and nothing else does.
TEST(MicroBatches, TakeTheSameTime) {
  for (const Topology &machine : machines()) {
    const Timed two(machine, 2), three(machine, 3), ten(machine, 10);
    const Picoseconds microBatch = three.times.makespan - two.times.makespan;
    EXPECT_EQ(ten.times.makespan - three.times.makespan, 7 * microBatch);
    const ActionRef last =
        two.program.order[numMicroBatchActions(two.program) - 1];
    EXPECT_EQ(two.times.devices[last.device][last.index].end, microBatch);
    EXPECT_LT(two.times.makespan, 3 * microBatch);
  }
}

TEST(MicroBatches, AreInTheUseOfTime) {
  const Timed timed(ranks(1, "10 GB/s", "1 ns"), 5);
  const Simulation simulation{timed.graph, timed.strategy, timed.program,
                              timed.topology, timed.times};
  const DeviceUse use = useByDevice(simulation)[0];
  EXPECT_EQ(use.idle, 0);
  EXPECT_EQ(use.total(), timed.times.makespan);
  Picoseconds sum = 0;
  for (const TimeUse &one : useByOperator(simulation))
    sum += one.total();
  EXPECT_EQ(sum, timed.times.makespan);
}

TEST(MicroBatches, KeepMeansInMemory) {
  const Topology machine = ranks(2, "10 GB/s", "1 ns");
  auto memoryOf = [&](const Timed &timed) {
    SegmentTable table(timed.graph, 2, timed.cost);
    std::vector<ConfigId> configs;
    for (const Configuration &config : timed.strategy)
      configs.push_back(table.intern(config));
    return stepMemory(table, configs)[0];
  };
  const Timed one(machine, 1), four(machine, 4);
  // Floats of three gradients.
  const int64_t means = 4 * (8 * 16 + 2 * 16 * 16);
  EXPECT_EQ(four.program.devices[0].stateBytes -
                one.program.devices[0].stateBytes,
            means);
  EXPECT_GE(memoryOf(four), four.program.devices[0].stateBytes);
  EXPECT_LE(memoryOf(four), memoryOf(one) + means);
}

} // namespace
