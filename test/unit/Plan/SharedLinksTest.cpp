//===- SharedLinksTest.cpp - times with links shared by everybody ---------===//

#include "TestGraph.h"
#include "TestTopology.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/SharedLinks.h"

#include "gtest/gtest.h"

#include <random>
#include <vector>

using namespace ffc::plan;

namespace {

using Times = std::vector<Picoseconds>;

/// Tasks with the shares of their flows.
struct Flows {
  void local(DeviceId device, Picoseconds duration) {
    tasks.addLocal(device, duration);
    shares.resize(tasks.numParts());
  }
  void collective(const std::vector<DeviceId> &members, Picoseconds duration,
                  const LinkShares &links) {
    shares.push_back(links); // of the first part
    tasks.addCollective(members, duration);
    shares.resize(tasks.numParts());
  }
  void wait(DeviceId device, int task) {
    tasks.addWait(device, task);
    shares.resize(tasks.numParts());
  }
  std::vector<ActionTime> time(int numDevices, bool overlap = false) const {
    return timeWithSharedLinks(tasks, shares, numDevices, overlap);
  }

  TimedTasks tasks;
  std::vector<LinkShares> shares;
};

/// By task and member.
Times starts(const std::vector<ActionTime> &times) {
  Times result;
  for (const ActionTime &time : times)
    result.push_back(time.start);
  return result;
}
Times ends(const std::vector<ActionTime> &times) {
  Times result;
  for (const ActionTime &time : times)
    result.push_back(time.end);
  return result;
}

TEST(SharedLinks, HalvesAFullLink) {
  Flows flows;
  flows.collective({0, 1}, 10, {{0, 1.0}});
  flows.collective({2, 3}, 10, {{0, 1.0}});
  EXPECT_EQ(ends(flows.time(4)), (Times{20, 20, 20, 20}));
  EXPECT_EQ(flows.time(4)[0].busy, 20);
}

TEST(SharedLinks, LeavesRoomThatIsThere) {
  Flows flows;
  flows.collective({0, 1}, 10, {{0, 0.5}, {1, 1.0}});
  flows.collective({2, 3}, 10, {{0, 0.5}, {2, 1.0}});
  EXPECT_EQ(ends(flows.time(4)), (Times{10, 10, 10, 10}));
}

TEST(SharedLinks, WhoComesLaterSlowsDownTheRest) {
  Flows flows;
  flows.local(2, 5);
  flows.collective({0, 1}, 10, {{0, 1.0}});
  flows.collective({2, 3}, 10, {{0, 1.0}});
  // Half of the first is done at 5, the rest at half speed; device 3 waits for
  // device 2.
  EXPECT_EQ(starts(flows.time(4)), (Times{0, 0, 0, 5, 0}));
  EXPECT_EQ(ends(flows.time(4)), (Times{5, 15, 15, 20, 20}));
}

TEST(SharedLinks, IsFairInTheMaxMinSense) {
  // The first link holds a and b back to a half; c gets what b leaves.
  Flows flows;
  flows.collective({0, 1}, 12, {{0, 1.0}});
  flows.collective({2, 3}, 12, {{0, 1.0}, {1, 0.5}});
  flows.collective({4, 5}, 12, {{1, 1.0}});
  // c at 3/4 up to 16, then all are done in time.
  EXPECT_EQ(ends(flows.time(6)), (Times{24, 24, 24, 24, 16, 16}));
}

TEST(SharedLinks, QueuesAndWaitsAreThoseOfTheFirstModel) {
  Flows flows;
  flows.local(0, 3);
  flows.collective({0, 1}, 10, {});
  flows.local(0, 4);
  flows.collective({0, 1}, 10, {});
  flows.wait(0, 1);
  flows.local(0, 1);
  const auto times = flows.time(2, /*overlap=*/true);
  EXPECT_EQ(starts(times), (Times{0, 3, 0, 3, 13, 13, 7, 13}));
  EXPECT_EQ(ends(times), (Times{3, 13, 13, 7, 23, 23, 13, 14}));
}

class SharedLinksOf : public ::testing::TestWithParam<int> {};

/// Nothing is earlier than in the first model; and all is as there on less than
/// four devices, where two reshards are never under way at once.
TEST_P(SharedLinksOf, RandomStrategies) {
  const int numDevices = GetParam();
  const Graph graph = ffc::plan::testing::trainingGraph().graph;
  // Messages take as long as their bytes take: in the time that the last one
  // travels, another reshard may start.
  const Topology topology =
      ffc::plan::testing::ranks(numDevices, "1 MB/s", "0 ns");
  const CostModel cost(topology);
  std::mt19937 random(7);
  int later = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Strategy strategy = randomStrategy(graph, numDevices, random);
    const Program program = planProgram(graph, strategy, numDevices, cost);
    const Timeline alone = timeProgram(graph, strategy, program, cost);
    const Timeline shared =
        timeWithSharedLinks(graph, strategy, program, topology, cost);
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
