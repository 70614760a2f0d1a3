//===- TimeUseTest.cpp - where the time of a step goes --------------------===//

#include "TestGraph.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/TimeUse.h"
#include "ffc/Plan/TraceFile.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>
#include <numeric>
#include <sstream>

using namespace ffc::plan;

namespace {

Topology twoDevices() {
  std::string error;
  auto topology = Topology::parse(
      "devices: 2 x cpu-core\ninterconnect:\n  type: shared-memory\n"
      "  bandwidth: 10 GB/s\n  latency: 1 us\n",
      "test.yaml", error);
  EXPECT_TRUE(topology) << error;
  return *topology;
}

/// One device whose actions are of given kinds and have given times.
struct OneDevice {
  template <class Kind>
  void add(Kind kind, Picoseconds start, Picoseconds end, Picoseconds busy,
           OpId op = 0) {
    Action action{{}, "", kind};
    action.task.op = op;
    const int index = static_cast<int>(program.devices[0].actions.size());
    program.devices[0].actions.push_back(action);
    program.order.push_back({0, index});
    times.devices[0].push_back({start, end, busy});
    times.makespan = std::max(times.makespan, end);
  }

  Graph graph = ffc::plan::testing::trainingGraph().graph;
  Strategy strategy;
  Topology topology = twoDevices();
  Program program{std::vector<DeviceProgram>(1), {}, {}, {}, {}};
  Timeline times{std::vector<std::vector<ActionTime>>(1), 0, true};
  Simulation simulation{graph, strategy, program, topology, times};
};

TEST(TimeUse, OfADeviceThatOverlaps) {
  OneDevice device;
  device.add(KernelAction(), 0, 10, 10);
  // Waits for another device up to 20, and is beside the next kernel.
  device.add(CollectiveAction(), 10, 30, 10, 1);
  device.add(KernelAction(), 10, 15, 5, 1);
  device.add(CopyAction(), 15, 17, 2, 1);
  device.add(WaitAction(), 17, 30, 0, 1);
  device.add(ExchangeAction(), 30, 40, 4, -1);
  device.add(ProbeAction(), 30, 30, 0);
  const DeviceUse use = useByDevice(device.simulation)[0];
  EXPECT_EQ(use.kernels, 15);
  EXPECT_EQ(use.copies, 2);
  EXPECT_EQ(use.communication, 14);
  // 17 to 20 and 30 to 36.
  EXPECT_EQ(use.idle, 9);

  const std::vector<TimeUse> uses = useByOperator(device.simulation);
  ASSERT_EQ(uses.size(), device.graph.ops.size() + 1);
  EXPECT_EQ(uses[0].total(), 10);
  EXPECT_EQ(uses[1].kernels, 5);
  EXPECT_EQ(uses[1].copies, 2);
  EXPECT_EQ(uses[1].communication, 10);
  EXPECT_EQ(uses.back().communication, 4) << "for no operator";
}

/// A sum that is the same by device, by operator, and in the trace.
TEST(TimeUse, AddsUp) {
  const Graph graph = ffc::plan::testing::trainingGraph().graph;
  const Topology topology = twoDevices();
  const CostModel cost(topology);
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const Strategy strategy = randomStrategy(graph, 2, random);
    const Program program = planProgram(graph, strategy, 2, cost);
    const Timeline times = timeProgram(graph, strategy, program, cost);
    const Simulation simulation{graph, strategy, program, topology, times};
    Picoseconds byDevice = 0, byOperator = 0;
    for (const DeviceUse &use : useByDevice(simulation)) {
      byDevice += use.total();
      // One queue is never busy twice at once.
      EXPECT_LE(use.total() + use.idle, times.makespan) << "trial " << trial;
    }
    for (const TimeUse &use : useByOperator(simulation))
      byOperator += use.total();
    EXPECT_EQ(byDevice, byOperator) << "trial " << trial;

    std::ostringstream trace;
    writeTrace(trace, simulation);
    size_t events = 0;
    for (size_t at = 0;
         (at = trace.str().find("\"ph\":\"X\"", at)) != std::string::npos; ++at)
      ++events;
    size_t tasks = 2; // the step on both devices
    for (ActionRef ref : program.order)
      tasks += isTask(simulation.action(ref));
    EXPECT_EQ(events, tasks) << "trial " << trial;
  }
}

} // namespace
