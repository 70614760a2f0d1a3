//===- SharedLinksTest.cpp - times with links shared by everybody ---------===//

#include "TestGraph.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/SharedLinks.h"

#include "gtest/gtest.h"

#include <string>

using namespace ffc::plan;

namespace {

/// Tasks with the shares of their flows.
struct Flows {
  void local(DeviceId device, Picoseconds duration) {
    tasks.addLocal(device, duration);
    shares.resize(tasks.numParts());
  }
  void collective(const std::vector<DeviceId> &members, Picoseconds duration,
                  const LinkShares &links) {
    tasks.addCollective(members, duration);
    shares.resize(tasks.numParts() - members.size());
    shares.push_back(links);
    shares.resize(tasks.numParts());
  }
  std::vector<ActionTime> time(int numDevices, bool overlap = false) const {
    return timeWithSharedLinks(tasks, shares, numDevices, overlap);
  }

  TimedTasks tasks;
  std::vector<LinkShares> shares;
};

TEST(SharedLinks, HalvesAFullLink) {
  Flows flows;
  flows.collective({0, 1}, 10, {{0, 1.0}});
  flows.collective({2, 3}, 10, {{0, 1.0}});
  const auto times = flows.time(4);
  EXPECT_EQ(times[0].end, 20);
  EXPECT_EQ(times[3].end, 20);
  EXPECT_EQ(times[0].busy, 20);
}

TEST(SharedLinks, LeavesRoomThatIsThere) {
  Flows flows;
  flows.collective({0, 1}, 10, {{0, 0.5}, {1, 1.0}});
  flows.collective({2, 3}, 10, {{0, 0.5}, {2, 1.0}});
  const auto times = flows.time(4);
  EXPECT_EQ(times[0].end, 10);
  EXPECT_EQ(times[2].end, 10);
}

TEST(SharedLinks, WhoComesLaterSlowsDownTheRest) {
  Flows flows;
  flows.local(2, 5);
  flows.collective({0, 1}, 10, {{0, 1.0}});
  flows.collective({2, 3}, 10, {{0, 1.0}});
  const auto times = flows.time(4);
  // Half is done at 5, the rest at half speed.
  EXPECT_EQ(times[1].end, 15);
  EXPECT_EQ(times[3].start, 5);
  EXPECT_EQ(times[4].start, 0) << "it waits for device 2";
  EXPECT_EQ(times[3].end, 20);
}

TEST(SharedLinks, IsFairInTheMaxMinSense) {
  // The first link holds a and b back to a half; c gets what b leaves.
  Flows flows;
  flows.collective({0, 1}, 12, {{0, 1.0}});
  flows.collective({2, 3}, 12, {{0, 1.0}, {1, 0.5}});
  flows.collective({4, 5}, 12, {{1, 1.0}});
  const auto times = flows.time(6);
  // c at 3/4 up to 16, then all are done in time.
  EXPECT_EQ(times[4].end, 16);
  EXPECT_EQ(times[0].end, 24);
  EXPECT_EQ(times[2].end, 24);
}

TEST(SharedLinks, QueuesAndWaitsAreThoseOfTheFirstModel) {
  Flows flows;
  flows.local(0, 3);
  flows.collective({0, 1}, 10, {});
  flows.local(0, 4);
  flows.collective({0, 1}, 10, {});
  flows.tasks.addWait(0, 1);
  flows.shares.resize(flows.tasks.numParts());
  flows.local(0, 1);
  const auto times = flows.time(2, /*overlap=*/true);
  EXPECT_EQ(times[1].end, 13);
  EXPECT_EQ(times[3].end, 7);
  EXPECT_EQ(times[4].start, 13);
  EXPECT_EQ(times[4].end, 23);
  EXPECT_EQ(times[6].start, 7);
  EXPECT_EQ(times[6].end, 13);
  EXPECT_EQ(times[7].end, 14);
}

class SharedLinksOf : public ::testing::TestWithParam<int> {};

/// Nothing is earlier than in the first model; and all is as there on less than
/// four devices, where two reshards are never under way at once.
TEST_P(SharedLinksOf, RandomStrategies) {
  const int numDevices = GetParam();
  const Graph graph = ffc::plan::testing::trainingGraph().graph;
  // So slow that messages take as long as their bytes take.
  std::string error;
  const auto topology =
      Topology::parse("devices: " + std::to_string(numDevices) +
                          " x cpu-core\ninterconnect:\n  type: shared-memory\n"
                          "  bandwidth: 1 MB/s\n  latency: 1 ns\n",
                      "test.yaml", error);
  ASSERT_TRUE(topology) << error;
  const CostModel cost(*topology);
  std::mt19937 random(7);
  int later = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Strategy strategy = randomStrategy(graph, numDevices, random);
    const Program program = planProgram(graph, strategy, numDevices, cost);
    const Timeline alone = timeProgram(graph, strategy, program, cost);
    const Timeline shared =
        timeWithSharedLinks(graph, strategy, program, *topology, cost);
    ASSERT_GE(shared.makespan, alone.makespan) << "trial " << trial;
    for (ActionRef ref : program.order) {
      const ActionTime &a = alone.devices[ref.device][ref.index];
      const ActionTime &s = shared.devices[ref.device][ref.index];
      ASSERT_GE(s.start, a.start) << "trial " << trial;
      ASSERT_GE(s.end, a.end) << "trial " << trial;
      later += s.end > a.end;
    }
  }
  if (numDevices < 4)
    EXPECT_EQ(later, 0);
  else
    EXPECT_GT(later, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, SharedLinksOf, ::testing::Values(2, 3, 6));

} // namespace
