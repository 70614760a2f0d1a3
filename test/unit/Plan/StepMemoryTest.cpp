//===- StepMemoryTest.cpp - the bound on memory against what is planned ---===//

#include "ffc/Plan/StepMemory.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// Devices; whether they communicate and compute at once; a chain of layers or
/// the smaller graph; micro-batches.
class StepMemoryTest
    : public ::testing::TestWithParam<std::tuple<int, bool, bool, int>> {};

TEST_P(StepMemoryTest, IsNeverAboveThePlanAndCloseToIt) {
  const auto [devices, overlaps, layers, microBatches] = GetParam();
  TestGraph g = layers ? stack(5) : trainingGraph();
  if (microBatches > 1)
    g.graph.microBatches = microBatches;
  CostModel cost(overlaps ? overlapping(devices, "10 ns")
                          : ranks(devices, "3 GB/s", "2 us"));
  SegmentTable table(g.graph, devices, cost);
  std::mt19937 random(devices);
  double bounds = 0, plans = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Strategy strategy = randomStrategy(g.graph, devices, random);
    std::vector<ConfigId> configs;
    for (const Configuration &config : strategy)
      configs.push_back(table.intern(config));
    const Program program = planProgram(g.graph, strategy, devices, cost);
    const std::vector<int64_t> bounded = stepMemory(table, configs);
    for (int d = 0; d < devices; ++d) {
      const DeviceProgram &device = program.devices[d];
      ASSERT_LE(bounded[d], device.stateBytes + device.arenaBytes)
          << "device " << d << ", trial " << trial << "\n"
          << str(g.graph, strategy);
      ASSERT_LE(device.stateBytes + device.arenaBytes,
                memoryCeiling(g.graph, devices))
          << str(g.graph, strategy);
      bounds += static_cast<double>(bounded[d]);
      plans += static_cast<double>(device.stateBytes + device.arenaBytes);
    }
    EXPECT_EQ(largestMemory(table, configs).total(),
              *std::max_element(bounded.begin(), bounded.end()));
  }
  EXPECT_GT(bounds, 0.85 * plans);
}

INSTANTIATE_TEST_SUITE_P(Devices, StepMemoryTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5),
                                            ::testing::Bool(),
                                            ::testing::Bool(),
                                            ::testing::Values(1, 3)));

} // namespace
