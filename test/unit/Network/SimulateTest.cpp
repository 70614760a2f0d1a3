//===- SimulateTest.cpp - times of small steps, worked out by hand --------===//

#include "ffc/Network/Simulate.h"
#include "ffc/Network/FlowTransport.h"
#include "ffc/Network/NetworkBuilder.h"
#include "ffc/Network/OccupancyTransport.h"
#include "ffc/Network/TaskProblem.h"
#include "ffc/Network/TrainTransport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace ffc::network;
using testing::Each;
using testing::ElementsAre;

namespace {

constexpr Picoseconds kNano = 1'000, kMicro = 1'000'000;

class Simulate : public testing::Test {
protected:
  /// `lines` follow "ffc tasks 1".
  void read(const std::string &lines) {
    std::string error;
    problem = TaskProblem::parse("ffc tasks 1\n" + lines, "test", error);
    ASSERT_TRUE(problem) << error;
  }
  SimulatedStep run(Transport &transport, SimulateOptions options = {}) {
    std::string error;
    auto step =
        simulate(problem->graph, problem->network, transport, options, error);
    EXPECT_EQ(error, "");
    return step ? *step : SimulatedStep();
  }
  SimulatedStep runFair(SimulateOptions options = {}) {
    FlowTransport transport(problem->network);
    return run(transport, options);
  }
  SimulatedStep runTrains(int64_t window = 100) {
    PacketOptions options;
    options.packetBytes = 1000;
    options.initialWindow = window;
    TrainTransport transport(problem->network, options);
    return run(transport);
  }
  SimulatedStep runOccupancy() {
    OccupancyTransport transport(problem->network);
    return run(transport);
  }
  static std::vector<Picoseconds> endsOf(const SimulatedStep &step) {
    std::vector<Picoseconds> ends;
    for (const TaskTime &task : step.tasks)
      ends.push_back(task.end);
    return ends;
  }

  std::optional<TaskProblem> problem;
};

TEST_F(Simulate, AServerComputesInOrderOfReadiness) {
  read("servers 1\n"
       "compute a on 0 for 1us\n"
       "compute b on 0 for 4us\n"
       "compute c on 0 for 2us after a\n");
  const SimulatedStep step = runFair();
  EXPECT_THAT(endsOf(step), ElementsAre(1 * kMicro, 5 * kMicro, 7 * kMicro));
  EXPECT_THAT(step.compute, ElementsAre(7 * kMicro));
}

TEST_F(Simulate, FlowsShareALinkAndOneSpeedsUpWhenTheOtherEnds) {
  read("servers 2\n"
       "link 0 1 1GB/s 0ns\n"
       "transfer a from 0 to 1 of 10kB\n"
       "transfer b from 0 to 1 of 30kB\n"
       "transfer c from 1 to 0 of 30kB\n");
  EXPECT_THAT(endsOf(runFair()),
              ElementsAre(20 * kMicro, 40 * kMicro, 30 * kMicro));
  EXPECT_THAT(endsOf(runOccupancy()),
              ElementsAre(10 * kMicro, 40 * kMicro, 30 * kMicro));
}

TEST_F(Simulate, WhatALongFlowCannotUseOthersGet) {
  // a shares 0-1 with b and 1-2 with c, which is half as fast.
  read("servers 3\n"
       "link 0 1 3GB/s 0ns\n"
       "link 1 2 2GB/s 0ns\n"
       "transfer a from 0 to 2 of 10kB\n"
       "transfer b from 0 to 1 of 20kB\n"
       "transfer c from 1 to 2 of 20kB\n");
  // a 1, b 2, c 1 GB/s until a and b end; then c has 2.
  EXPECT_THAT(endsOf(runFair()),
              ElementsAre(10 * kMicro, 10 * kMicro, 15 * kMicro));
}

TEST_F(Simulate, PacketsAreStoredAndForwarded) {
  read("servers 3\n"
       "link 0 1 1GB/s 100ns\n"
       "link 1 2 2GB/s 200ns\n"
       "transfer a from 0 to 2 of 9500B\n");
  // The question; ten packets on the first link, the last one on the second.
  EXPECT_THAT(endsOf(runTrains()), ElementsAre(300 * kNano + 10 * kMicro +
                                               500 * kNano + 300 * kNano));
}

TEST_F(Simulate, WindowsDoubleEveryRoundTrip) {
  read("servers 2\n"
       "link 0 1 1GB/s 100us\n"
       "transfer a from 0 to 1 of 14kB\n");
  // The question; 2, 4 and 8 packets, one a microsecond, each set from when
  // word of the first of the set before is back.
  EXPECT_THAT(endsOf(runTrains(2)),
              ElementsAre(4 * 100 * kMicro + (1 + 1 + 8) * kMicro));
}

TEST_F(Simulate, WindowsStandInQueuesAsTheyCame) {
  // Each of two servers sends to 2 first, then to 3, whose link is idle so
  // long.
  read("servers 4 switches 1\n"
       "link 0 4 1GB/s 0ns\nlink 1 4 1GB/s 0ns\n"
       "link 2 4 1GB/s 0ns\nlink 3 4 1GB/s 0ns\n"
       "transfer a from 0 to 2 of 20kB\ntransfer b from 1 to 2 of 20kB\n"
       "transfer c from 0 to 3 of 20kB\ntransfer d from 1 to 3 of 20kB\n");
  const SimulatedStep trains = runTrains();
  EXPECT_EQ(trains.finish, (20 + 40 + 1) * kMicro);
  EXPECT_EQ(runFair().finish, 40 * kMicro);
}

TEST_F(Simulate, FlowsTakeOneOfTheirPaths) {
  std::string lines = "servers 2 switches 2\n"
                      "link 0 2 1GB/s 0ns\nlink 2 1 1GB/s 0ns\n"
                      "link 0 3 1GB/s 0ns\nlink 3 1 1GB/s 0ns\n"
                      "path 0 2 1 share 0.75\npath 0 3 1 share 0.25\n";
  for (int flow = 0; flow < 400; ++flow)
    lines += "transfer t" + std::to_string(flow) + " from 0 to 1 of 10kB\n";
  read(lines);
  // About 300 of 400, and never all.
  const SimulatedStep step = runTrains();
  EXPECT_GT(step.finish, 270 * 10 * kMicro);
  EXPECT_LT(step.finish, 330 * 10 * kMicro);
}

TEST_F(Simulate, SegmentsKeepALinkBusyForItsLatency) {
  read("servers 3\n"
       "link 0 1 1GB/s 1us\n"
       "link 1 2 1GB/s 1us\n"
       "transfer a from 0 to 2 of 2MiB\n");
  const Picoseconds segment = 1048576 * kNano + kMicro;
  EXPECT_THAT(endsOf(runOccupancy()), ElementsAre(3 * segment));
}

const char *const kTwoPaths = "servers 2 switches 2\n"
                              "link 0 2 1GB/s 0ns\nlink 2 1 1GB/s 0ns\n"
                              "link 0 3 1GB/s 0ns\nlink 3 1 1GB/s 0ns\n";

TEST_F(Simulate, FlowsOfAPairTakeItsPathsInTurn) {
  const std::string flows = "transfer a from 0 to 1 of 40kB\n"
                            "transfer b from 0 to 1 of 40kB\n"
                            "transfer c from 0 to 1 of 40kB\n"
                            "transfer d from 0 to 1 of 40kB\n";
  read(kTwoPaths + ("path 0 2 1 share 0.5\npath 0 3 1 share 0.5\n" + flows));
  EXPECT_THAT(endsOf(runFair()), Each(80 * kMicro));
  // Three of four.
  read(kTwoPaths + ("path 0 2 1 share 0.75\npath 0 3 1 share 0.25\n" + flows));
  EXPECT_THAT(endsOf(runFair()), ElementsAre(120 * kMicro, 120 * kMicro,
                                             40 * kMicro, 120 * kMicro));
}

TEST_F(Simulate, PartsOfAllReducesTakeTurnsOfTheirOwn) {
  // The transfer and the ring's first hop both begin with the first path.
  read(std::string(kTwoPaths) +
       "path 0 2 1 share 0.5\npath 0 3 1 share 0.5\nlink 1 0 1GB/s 0ns\n"
       "transfer a from 0 to 1 of 40kB\nall-reduce b on 0 1 of 40kB\n"
       "transfer c from 0 to 1 of 40kB\n");
  EXPECT_THAT(endsOf(runFair()),
              ElementsAre(80 * kMicro, 80 * kMicro, 40 * kMicro));
}

const char *const kRing = "servers 4\n"
                          "link 0 1 1GB/s 0ns\nlink 1 2 1GB/s 0ns\n"
                          "link 2 3 1GB/s 0ns\nlink 3 0 1GB/s 0ns\n";

TEST_F(Simulate, ARingGoesInRounds) {
  read(std::string(kRing) + "all-reduce a on 0 1 2 3 of 400kB inside 5us\n");
  EXPECT_EQ(runOccupancy().flows.size(), 24u);
  EXPECT_EQ(runTrains().flows.size(), 24u);
}

TEST_F(Simulate, RoundsAreJoinedAtTheLevelOfFlows) {
  read(std::string(kRing) + "all-reduce a on 0 1 2 3 of 400kB inside 5us\n");
  const SimulatedStep step = runFair();
  EXPECT_EQ(step.finish, 5 * kMicro + 6 * 100 * kMicro);
  EXPECT_EQ(step.flows.size(), 4u);
  EXPECT_EQ(step.flows[0].bytes, 600'000);
}

TEST_F(Simulate, TwoListedRingsCarryHalfEach) {
  read(std::string(kRing) + "ring 4 jumps 1\nring 4 jumps -1\n"
                            "all-reduce a on 0 1 2 3 of 400kB\n");
  EXPECT_EQ(runFair().finish, 6 * 50 * kMicro);
}

TEST_F(Simulate, AListedRingGoesRoundTheMembersThereAre) {
  // 1 and 3 of four servers: two jumps lead from one to the other.
  read(std::string(kRing) + "ring 2 jumps 1 1\nall-reduce a on 1 3 of 200kB\n");
  const SimulatedStep step = runFair();
  EXPECT_EQ(step.flows[0].src, 1);
  EXPECT_EQ(step.flows[0].dst, 3);
  EXPECT_EQ(step.finish, 2 * 100 * kMicro);
}

TEST_F(Simulate, AListedRingThatLeadsElsewhereIsNotUsed) {
  read(std::string(kRing) + "ring 2 jumps 1\nall-reduce a on 0 2 of 200kB\n"
                            "ring 3 jumps 1\nall-reduce b on 0 1 2 of 30kB\n");
  const SimulatedStep step = runFair();
  EXPECT_EQ(step.flows[0].dst, 2);
  EXPECT_EQ(step.flows.size(), 2u + 3u);
}

TEST_F(Simulate, SmallAllReducesTakeOneRound) {
  read(std::string(kRing) + "all-reduce a on 0 1 2 3 of 20kB\n");
  const SimulatedStep step = runFair();
  EXPECT_EQ(step.flows.size(), 4u);
  EXPECT_EQ(step.flows[0].bytes, 7500); // 20000 x 2 x 3/4 / 4
}

TEST_F(Simulate, AllReducesOfOneAreDone) {
  read("servers 1\nall-reduce a on 0 of 8GiB inside 1ms\n");
  EXPECT_EQ(runFair().finish, 0);
}

TEST_F(Simulate, SizesHave64Bits) {
  read("servers 2\nlink 0 1 1GB/s 0ns\nall-reduce a on 0 1 of 16GB\n");
  EXPECT_EQ(runFair().finish, 16'000'000 * kMicro);
}

TEST_F(Simulate, ServersOfParametersAndDirectExchange) {
  read(std::string(kRing) + "link 0 2 1GB/s 0ns\nlink 1 3 1GB/s 0ns\n"
                            "all-reduce a on 0 1 2 3 of 40kB inside 5us\n");
  SimulateOptions options;
  options.allReduce = AllReduceKind::ParameterServer;
  const SimulatedStep ps = runFair(options);
  EXPECT_EQ(ps.finish, 2 * 40 * kMicro);
  EXPECT_EQ(ps.flows.size(), 6u);
  options.allReduce = AllReduceKind::Direct;
  const SimulatedStep direct = runFair(options);
  EXPECT_EQ(direct.finish, 2 * 10 * kMicro);
  EXPECT_EQ(direct.flows.size(), 24u);
}

TEST_F(Simulate, ATransferIsAtLeastAPacket) {
  read("servers 2\nlink 0 1 1GB/s 0ns\ntransfer a from 0 to 1 of 1B\n");
  EXPECT_EQ(runFair().finish, 8936 * kNano);
}

TEST_F(Simulate, LinksCountWhatTheyCarry) {
  read("servers 3\nlink 0 1 1GB/s 0ns one-way\nlink 1 2 1GB/s 0ns one-way\n"
       "transfer a from 0 to 2 of 10kB\ntransfer b from 1 to 2 of 9kB\n");
  EXPECT_THAT(runFair().linkBytes, ElementsAre(10000, 19000));
}

TEST_F(Simulate, PairsWithoutAPath) {
  read("servers 2\ntransfer a from 0 to 1 of 10kB\n");
  FlowTransport transport(problem->network);
  std::string error;
  EXPECT_FALSE(simulate(problem->graph, problem->network, transport,
                        SimulateOptions(), error));
  EXPECT_EQ(error, "expected a path between servers that send, found none from "
                   "0 to 1");
}

TEST_F(Simulate, NetworksThatAreTooSmall) {
  read("servers 3\ncompute a on 2 for 1us\n");
  const Network network = makeSwitch(2, {1e9, 0});
  FlowTransport transport(network);
  std::string error;
  EXPECT_FALSE(
      simulate(problem->graph, network, transport, SimulateOptions(), error));
  EXPECT_EQ(error, "expected a network of at least 3 servers, found 2");
}

/// Flows of different sizes on a switch, thousands at once.
TEST_F(Simulate, ManyFlows) {
  constexpr int32_t kFlows = 200'000, kAtOnce = 16'000;
  TaskGraph graph;
  graph.numServers = 16;
  const Network network = makeSwitch(16, {1e9, 0});
  for (int32_t i = 0; i < kFlows; ++i) {
    NetworkTask task;
    task.type = TaskType::Transfer;
    task.src = i % 16;
    task.dst = (i + 1 + i / 16 % 15) % 16;
    task.bytes = 10'000 + i % 7;
    if (i + kAtOnce < kFlows)
      task.next = {i + kAtOnce};
    graph.tasks.push_back(task);
  }
  FlowTransport transport(network);
  std::string error;
  const auto step =
      simulate(graph, network, transport, SimulateOptions(), error);
  ASSERT_TRUE(step) << error;
  // All links carry the same, and are never idle.
  EXPECT_NEAR(static_cast<double>(step->finish), kFlows / 16 * 10.003e6, 1e9);
}

} // namespace
