//===- SymmetricSectionTest.cpp - equal offsets on all ranks --------------===//

#include "ffc/Plan/SymmetricSection.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Arena.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Verifier.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace ffc::plan;
using namespace ffc::plan::testing;
using ::testing::HasSubstr;

namespace {

/// Programs without kernels.
struct MadeProgram {
  explicit MadeProgram(int devices) { program.devices.resize(devices); }

  BufferId buffer(DeviceId device, int64_t bytes, Section section) {
    auto &buffers = program.devices[device].buffers;
    Buffer made;
    made.name = "b" + std::to_string(buffers.size());
    made.bytes = bytes;
    made.section = section;
    buffers.push_back(made);
    return static_cast<BufferId>(buffers.size()) - 1;
  }
  void add(DeviceId device, Action action) {
    auto &actions = program.devices[device].actions;
    program.order.push_back({device, static_cast<int>(actions.size())});
    actions.push_back(std::move(action));
  }
  void touch(DeviceId device, BufferId buffer) {
    add(device, {{}, "", ProbeAction{"", buffer}});
  }
  /// Of every member's buffers.
  void collective(const std::vector<DeviceId> &members,
                  const std::vector<BufferId> &src,
                  const std::vector<BufferId> &dst) {
    CollectiveAction collective;
    collective.group = static_cast<GroupId>(program.groups.size());
    program.groups.push_back(members);
    for (size_t m = 0; m < members.size(); ++m) {
      collective.src = src[m];
      collective.dst = dst[m];
      add(members[m], {{}, "", collective});
    }
  }
  void layOut() { assignSymmetricOffsets({}, {}, program); }

  const Buffer &at(DeviceId device, BufferId buffer) const {
    return program.devices[device].buffers[buffer];
  }
  bool isInside(const Buffer &buffer) const {
    return buffer.offset < program.symmetricBytes(buffer.section);
  }

  Program program;
};

/// What every layout must fulfil. Returns how many sides of collectives lie in
/// the symmetric part.
int check(const MadeProgram &made) {
  const Program &program = made.program;
  for (const DeviceProgram &device : program.devices) {
    EXPECT_LE(program.symmetricState, device.stateBytes);
    EXPECT_LE(program.symmetricArena, device.arenaBytes);
    const std::vector<Lifetime> lives = lifetimesOf(device);
    for (size_t a = 0; a < device.buffers.size(); ++a) {
      const Buffer &x = device.buffers[a];
      const bool isState = x.section == Section::State;
      if (!isState && lives[a].last < lives[a].first)
        continue;
      const int64_t end = x.offset + x.bytes;
      EXPECT_EQ(x.offset % kBufferAlignment, 0);
      EXPECT_LE(end, isState ? device.stateBytes : device.arenaBytes);
      EXPECT_FALSE(made.isInside(x) && end > program.symmetricBytes(x.section));
      for (size_t b = 0; b < a; ++b) {
        const Buffer &y = device.buffers[b];
        const bool atOnce =
            x.section == y.section && (isState || lives[a].overlaps(lives[b]));
        EXPECT_TRUE(!atOnce || end <= y.offset ||
                    y.offset + y.bytes <= x.offset);
      }
    }
  }
  int inside = 0;
  for (size_t i = 0; i < program.order.size(); ++i) {
    auto collectiveAt = [&](size_t at) {
      return program.action(program.order[at]).as<CollectiveAction>();
    };
    const CollectiveAction *first = collectiveAt(i);
    if (!first)
      continue;
    const auto &members = program.groups[first->group];
    for (auto side : {&CollectiveAction::src, &CollectiveAction::dst}) {
      const Buffer &mine = made.at(members[0], first->*side);
      inside += made.isInside(mine);
      for (size_t m = 0; m < members.size(); ++m) {
        const Buffer &other = made.at(members[m], collectiveAt(i + m)->*side);
        EXPECT_EQ(made.isInside(other), made.isInside(mine));
        if (made.isInside(mine)) {
          EXPECT_EQ(other.offset, mine.offset);
          EXPECT_EQ(other.section, mine.section);
        }
      }
    }
    i += members.size() - 1;
  }
  return inside;
}

TEST(SymmetricSection, RandomLifetimesAndRanks) {
  std::mt19937 random(20261124);
  auto below = [&](int limit) { return static_cast<int>(random() % limit); };
  int inside = 0, sides = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int devices = 1 + below(6);
    MadeProgram made(devices);
    for (int step = 0; step < 40; ++step) {
      const int64_t bytes = 4 * (1 + below(200));
      const Section section = below(5) == 0 ? Section::State : Section::Arena;
      if (below(2) == 0) {
        const DeviceId device = below(devices);
        const BufferId made_here = made.buffer(device, bytes, section);
        made.touch(device, made_here);
        made.touch(device, below(made_here + 1));
        continue;
      }
      std::vector<DeviceId> members;
      for (DeviceId device = 0; device < devices; ++device)
        if (below(3) > 0)
          members.push_back(device);
      if (members.empty())
        continue;
      const bool inPlace = below(2) == 0;
      std::vector<BufferId> src, dst;
      for (DeviceId device : members) {
        // Seldom one that another collective has as well.
        const auto &buffers = made.program.devices[device].buffers;
        BufferId from = -1;
        if (below(20) == 0)
          for (size_t b = 0; b < buffers.size(); ++b)
            if (buffers[b].bytes == bytes)
              from = static_cast<BufferId>(b);
        src.push_back(from >= 0 ? from : made.buffer(device, bytes, section));
        dst.push_back(inPlace ? src.back()
                              : made.buffer(device, 3 * bytes, Section::Arena));
      }
      made.collective(members, src, dst);
      sides += 2;
      for (size_t m = 0; m < members.size(); ++m)
        if (below(2) == 0)
          made.touch(members[m], dst[m]);
    }
    made.layOut();
    inside += check(made);
    ASSERT_FALSE(HasFailure()) << "trial " << trial;
  }
  EXPECT_GT(inside, sides * 9 / 10);
}

/// Two buffers of a device that are in use at once cannot have one offset.
TEST(SymmetricSection, WhatCannotBeStaysOutside) {
  MadeProgram made(2);
  const BufferId a = made.buffer(0, 64, Section::Arena);
  const BufferId b = made.buffer(0, 64, Section::Arena);
  const BufferId x = made.buffer(1, 64, Section::Arena);
  const BufferId y[2] = {made.buffer(0, 128, Section::Arena),
                         made.buffer(1, 128, Section::Arena)};
  made.touch(0, a);
  made.touch(0, b);
  made.collective({0, 1}, {a, x}, {a, x});
  made.collective({0, 1}, {b, x}, {b, x});
  made.collective({0, 1}, {y[0], y[1]}, {y[0], y[1]});
  made.layOut();
  EXPECT_EQ(check(made), 2);
  EXPECT_EQ(made.program.symmetricArena, 128);
  EXPECT_FALSE(made.isInside(made.at(0, a)));
  EXPECT_FALSE(made.isInside(made.at(0, b)));
  EXPECT_FALSE(made.isInside(made.at(1, x)));
  EXPECT_TRUE(made.isInside(made.at(0, y[0])));
}

TEST(SymmetricSection, StateAndArenaCannotHaveOneOffset) {
  MadeProgram made(2);
  const BufferId a = made.buffer(0, 64, Section::State);
  const BufferId x = made.buffer(1, 64, Section::Arena);
  made.collective({0, 1}, {a, x}, {a, x});
  made.layOut();
  EXPECT_EQ(check(made), 0);
  EXPECT_EQ(made.program.symmetricState, 0);
  EXPECT_EQ(made.program.symmetricArena, 0);
}

/// What one device alone needs lies beside what it shares.
TEST(SymmetricSection, OthersUseTheRoom) {
  MadeProgram made(2);
  const BufferId early = made.buffer(0, 256, Section::Arena);
  made.touch(0, early);
  const BufferId a = made.buffer(0, 256, Section::Arena);
  const BufferId b = made.buffer(1, 256, Section::Arena);
  made.collective({0, 1}, {a, b}, {a, b});
  made.layOut();
  EXPECT_EQ(check(made), 2);
  EXPECT_EQ(made.program.symmetricArena, 256);
  EXPECT_EQ(made.program.devices[0].arenaBytes, 256);
  EXPECT_EQ(made.at(0, early).offset, 0);
}

/// With little latency, so that there are collectives.
struct Plan {
  Plan(Graph g, Strategy s, const Topology &on)
      : graph(std::move(g)), strategy(std::move(s)), topology(on),
        program(planProgram(graph, strategy, on.numDevices(),
                            CostModel(topology))) {
    assignSymmetricOffsets(graph, strategy, program);
  }
  std::string verify() const {
    return verifyProgram(graph, strategy, program, topology).value_or("");
  }

  Graph graph;
  Strategy strategy;
  Topology topology;
  Program program;
};

TEST(SymmetricSection, PlansAreSafe) {
  TestGraph g = trainingGraph();
  std::mt19937 random(20261125);
  int shared = 0;
  for (int devices : {1, 2, 3, 4, 8})
    for (int trial = 0; trial < 60; ++trial) {
      Plan plan(g.graph, randomStrategy(g.graph, devices, random),
                overlapping(devices, "1 ns"));
      ASSERT_EQ(plan.verify(), "") << "trial " << trial << "\n"
                                   << str(plan.graph, plan.strategy);
      shared += plan.program.symmetricArena > 0;
    }
  EXPECT_GT(shared, 50);
}

/// Of two devices that add up the gradient of a weight.
Plan dataParallelPlan() {
  TestGraph g = trainingGraph();
  std::vector<std::optional<Configuration>> given(g.graph.ops.size());
  for (OpId op : {0, 1, 2})
    given[op] = Configuration{{{0, 2}}, {0, 1}};
  return Plan(g.graph, completeStrategy(g.graph, given),
              ranks(2, "10 GB/s", "1 ns"));
}

Buffer &reducedOn(DeviceProgram &device) {
  for (const Action &action : device.actions)
    if (const auto *collective = action.as<CollectiveAction>())
      return device.buffers[collective->src];
  ADD_FAILURE() << "no collective";
  return device.buffers.front();
}

TEST(SymmetricSection, VerifierWantsEqualOffsets) {
  Plan plan = dataParallelPlan();
  ASSERT_EQ(plan.verify(), "");
  DeviceProgram &device = plan.program.devices[1];
  Buffer &buffer = reducedOn(device);
  const int64_t right = buffer.offset;
  buffer.offset = device.arenaBytes;
  device.arenaBytes += buffer.bytes;
  EXPECT_THAT(
      plan.verify(),
      HasSubstr("has '" + buffer.name +
                "' outside of the symmetric part, expected it at byte " +
                std::to_string(right) +
                " of the symmetric arena as on device 0"));
}

TEST(SymmetricSection, VerifierWantsThePartWithinTheSection) {
  Plan plan = dataParallelPlan();
  const int64_t bytes = plan.program.devices[0].arenaBytes;
  plan.program.symmetricArena = bytes + 64;
  EXPECT_EQ(plan.verify(), "device 0: symmetric part of the arena has " +
                               std::to_string(bytes + 64) +
                               " bytes, expected at most " +
                               std::to_string(bytes));
}

TEST(SymmetricSection, VerifierWantsBuffersOnOneSide) {
  Plan plan = dataParallelPlan();
  const Buffer &buffer = reducedOn(plan.program.devices[0]);
  const int64_t end = buffer.offset + buffer.bytes - 4;
  plan.program.symmetricArena = end;
  EXPECT_THAT(plan.verify(),
              HasSubstr("lies across byte " + std::to_string(end) +
                        ", where the symmetric part ends"));
}

} // namespace
