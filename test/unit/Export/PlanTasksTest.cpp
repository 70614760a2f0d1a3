//===- PlanTasksTest.cpp - plans as tasks of servers ----------------------===//

#include "PlannedStep.h"

#include "ffc/Network/FlowTransport.h"
#include "ffc/Network/NetworkBuilder.h"
#include "ffc/Network/PlanTasks.h"
#include "ffc/Network/Simulate.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace ffc::network;
using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

ServerTasks tasksOf(const PlannedStep &step, const ServerInside &inside = {}) {
  return planTasks(step.simulation(), step.cost, inside);
}

std::vector<NetworkTask> ofType(const ServerTasks &tasks, TaskType type) {
  std::vector<NetworkTask> result;
  for (const NetworkTask &task : tasks.graph.tasks)
    if (task.type == type)
      result.push_back(task);
  return result;
}

TEST(ServerInside, TimeOfAnAllReduce) {
  ServerInside inside;
  inside.bandwidth = 25e9; // 200 Gbit/s
  EXPECT_DOUBLE_EQ(inside.allReduce(4, 100'000'000), 2.0 * 3 / 4 * 4);
  EXPECT_DOUBLE_EQ(inside.allReduce(1, 100'000'000), 0);
  inside.asFlexNet = true;
  EXPECT_DOUBLE_EQ(inside.allReduce(4, 100'000'000), 2.0 / 4 * 4);
}

TEST(PlanTasks, GradientsAreAllReduced) {
  const PlannedStep step =
      PlannedStep::dataParallel(products(3).graph, pairs(2));
  const ServerTasks tasks = tasksOf(step);
  const auto sums = ofType(tasks, TaskType::AllReduce);
  ASSERT_EQ(sums.size(), 3U);
  for (const NetworkTask &sum : sums) {
    EXPECT_EQ(sum.members, (std::vector<VertexId>{0, 1}));
    EXPECT_EQ(sum.bytes, 64 * 64 * 4);
    // Two devices of 100 GB/s.
    EXPECT_FLOAT_EQ(sum.milliseconds, 64 * 64 * 4 / 100e9 * 1e3);
    EXPECT_TRUE(sum.next.empty());
  }
  // The updates that read them are left out.
  EXPECT_TRUE(ofType(tasks, TaskType::Update).empty());
  ASSERT_EQ(tasks.notes.size(), 1U);
  EXPECT_EQ(tasks.notes[0].rfind("without updates of ", 0), 0U)
      << tasks.notes[0];
}

TEST(PlanTasks, ServersComputeWhatTheirSlowestDeviceDoes) {
  const PlannedStep step =
      PlannedStep::dataParallel(products(2).graph, pairs(2));
  const ServerTasks tasks = tasksOf(step);
  double expected = 0, found = 0;
  const DeviceProgram &device = step.program.devices[0];
  for (size_t i = 0; i < device.actions.size(); ++i)
    if (const Action &action = device.actions[i];
        action.is<KernelAction>() &&
        step.graph.op(action.task.op).role != OpRole::Update)
      expected += static_cast<double>(step.times.devices[0][i].busy) * 1e-9;
  for (const NetworkTask &task : tasks.graph.tasks)
    if (task.type != TaskType::AllReduce && task.server == 0)
      found += task.milliseconds;
  EXPECT_NEAR(found, expected, 1e-6);
}

TEST(PlanTasks, MessagesAreTransfers) {
  // One product on each node.
  Graph graph = products(2).graph;
  std::vector<std::optional<Configuration>> given(graph.ops.size());
  given[0] = Configuration::onDevice(0);
  given[1] = Configuration::onDevice(2);
  const Strategy strategy = completeStrategy(graph, given);
  const PlannedStep step(graph, pairs(2), strategy);
  const ServerTasks tasks = tasksOf(step);
  EXPECT_TRUE(ofType(tasks, TaskType::AllReduce).empty());
  const auto transfers = ofType(tasks, TaskType::Transfer);
  ASSERT_GE(transfers.size(), 2U);
  EXPECT_EQ(transfers[0].src, 0);
  EXPECT_EQ(transfers[0].dst, 1);
  EXPECT_EQ(transfers[0].bytes, 64 * 64 * 4);
  // Nothing can be told apart from the plan's own time on such a network.
  std::string error;
  auto network = networkOf(step.topology, error);
  ASSERT_TRUE(network) << error;
  FlowTransport transport(*network);
  const auto run = simulate(tasks.graph, *network, transport, {}, error);
  ASSERT_TRUE(run) << error;
  EXPECT_GT(run->finish, step.times.makespan / 2);
  EXPECT_LT(run->finish, step.times.makespan * 2);
}

TEST(PlanTasks, MicroBatchesOneByOne) {
  Graph graph = products(2).graph;
  const size_t once =
      ofType(tasksOf(PlannedStep::dataParallel(graph, pairs(2))),
             TaskType::Forward)
          .size();
  graph.microBatches = 3;
  EXPECT_EQ(ofType(tasksOf(PlannedStep::dataParallel(graph, pairs(2))),
                   TaskType::Forward)
                .size(),
            3 * once);
}

} // namespace
