//===- ChakraTraceTest.cpp - plans as traces of MLCommons Chakra ----------===//

#include "PlannedStep.h"

#include "ffc/Export/ChakraTrace.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// How many messages there are, each after its length.
int numMessages(const std::string &bytes) {
  int count = 0;
  for (size_t at = 0; at < bytes.size(); ++count) {
    size_t size = 0;
    int shift = 0;
    for (bool isMore = true; isMore; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.at(at++));
      size |= size_t(byte & 127) << shift;
      isMore = byte >= 128;
    }
    at += size;
    EXPECT_LE(at, bytes.size());
  }
  return count;
}

int numNodes(const PlannedStep &step, DeviceId rank) {
  std::ostringstream out;
  const Simulation simulation = step.simulation();
  ffc::chakra::Trace(simulation).writeRank(out, rank);
  return numMessages(out.str()) - 1; // without the metadata
}

int numTasks(const DeviceProgram &device, int begin, int end) {
  int count = 0;
  for (int i = begin; i < end; ++i) {
    const Action &action = device.actions[i];
    if (const auto *exchange = action.as<ExchangeAction>())
      count +=
          static_cast<int>(exchange->sends.size() + exchange->receives.size());
    else if (isTask(action))
      ++count;
  }
  return count;
}

TEST(ChakraTrace, NodePerTask) {
  const PlannedStep step =
      PlannedStep::dataParallel(products(3).graph, pairs(2));
  for (DeviceId rank = 0; rank < 4; ++rank) {
    const DeviceProgram &device = step.program.devices[rank];
    EXPECT_EQ(numNodes(step, rank),
              numTasks(device, 0, static_cast<int>(device.actions.size())));
  }
}

TEST(ChakraTrace, MicroBatchesOneByOne) {
  Graph graph = products(3).graph;
  graph.microBatches = 5;
  const PlannedStep step = PlannedStep::dataParallel(graph, pairs(1));
  const DeviceProgram &device = step.program.devices[1];
  ASSERT_GT(device.microBatchActions, 0);
  EXPECT_EQ(numNodes(step, 1),
            5 * numTasks(device, 0, device.microBatchActions) +
                numTasks(device, device.microBatchActions,
                         static_cast<int>(device.actions.size())));
}

TEST(ChakraTrace, GroupsAreNumberedFromOne) {
  const PlannedStep step =
      PlannedStep::dataParallel(products(2).graph, pairs(2));
  std::ostringstream out;
  const Simulation simulation = step.simulation();
  ffc::chakra::Trace(simulation).writeGroups(out);
  EXPECT_EQ(out.str(), "{\n \"1\": [0, 1, 2, 3]\n}\n");
}

} // namespace
