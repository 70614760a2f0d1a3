//===- SymmetricSectionTest.cpp - collectives at equal offsets ------------===//

#include "ffc/Plan/SymmetricSection.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Verifier.h"

#include "gtest/gtest.h"

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// With little latency, so that there are collectives.
Topology fast(int count) { return ranks(count, "10 GB/s", "1 ns"); }

struct Plan {
  Plan(const Graph &g, Strategy s, const Topology &on)
      : graph(g), strategy(std::move(s)), topology(on),
        program(planProgram(graph, strategy, on.numDevices(),
                            CostModel(topology))) {
    for (const DeviceProgram &device : program.devices)
      arenaBytes += device.arenaBytes;
    assignSymmetricOffsets(graph, strategy, program);
  }

  std::string verify() const {
    return verifyProgram(graph, strategy, program, topology).value_or("");
  }
  Action &collective(DeviceId device) {
    for (Action &action : program.devices[device].actions)
      if (action.kind == Action::Kind::Collective)
        return action;
    throw std::runtime_error("no collective");
  }
  /// What the first collective reads on a device.
  Buffer &source(DeviceId device) {
    return program.devices[device].buffers[collective(device).src];
  }
  bool isInside(const Buffer &buffer) const {
    return buffer.section == Section::Arena &&
           buffer.offset + buffer.bytes <= program.symmetricBytes;
  }

  Graph graph;
  Strategy strategy;
  Topology topology;
  Program program;
  int64_t arenaBytes = 0; ///< of all devices, without a section
};

/// The gradient of w2 is summed over both devices.
Plan dataParallelPlan() {
  TestGraph g = trainingGraph();
  std::vector<std::optional<Configuration>> given(g.graph.ops.size());
  for (OpId op : {0, 1, 2})
    given[op] = Configuration{{{0, 2}}, {0, 1}};
  return Plan(g.graph, completeStrategy(g.graph, given), fast(2));
}

TEST(SymmetricSection, OperandsLieAtTheSameOffset) {
  Plan plan = dataParallelPlan();
  EXPECT_EQ(plan.verify(), "");
  EXPECT_GT(plan.program.symmetricBytes, 0);
  EXPECT_EQ(plan.program.symmetricBytes % kWindowAlignment, 0);
  EXPECT_TRUE(plan.isInside(plan.source(0)));
  EXPECT_EQ(plan.source(0).offset, plan.source(1).offset);
}

TEST(SymmetricSection, WhoDoesNotCommunicateHasNone) {
  Plan plan(
      trainingGraph().graph,
      Strategy(trainingGraph().graph.ops.size(), Configuration::onDevice(0)),
      fast(2));
  EXPECT_EQ(plan.verify(), "");
  EXPECT_EQ(plan.program.symmetricBytes, 0);
  EXPECT_EQ(plan.program.devices[1].arenaBytes, 0);
}

TEST(SymmetricSection, RandomStrategies) {
  TestGraph g = trainingGraph();
  std::mt19937 random(20261124);
  int inside = 0, outside = 0;
  int64_t before = 0, after = 0;
  for (int devices : {2, 3, 4, 8})
    for (int trial = 0; trial < 200; ++trial) {
      Plan plan(g.graph, randomStrategy(g.graph, devices, random),
                trial % 2 ? overlapping(devices, "1 ns") : fast(devices));
      ASSERT_EQ(plan.verify(), "") << "trial " << trial << "\n"
                                   << str(g.graph, plan.strategy);
      before += plan.arenaBytes;
      for (const DeviceProgram &device : plan.program.devices) {
        after += device.arenaBytes;
        for (const Action &action : device.actions)
          if (action.kind == Action::Kind::Collective)
            ++(plan.isInside(device.buffers[action.src]) ? inside : outside);
      }
    }
  // Few are left out, by far, and arenas, of a page or two each, do not grow by
  // more than a page of section needs.
  EXPECT_GT(inside, 9 * outside);
  EXPECT_GT(inside, 1000);
  EXPECT_LT(after, before + 800 * 5 * kWindowAlignment);
}

TEST(SymmetricSection, VerifierSeesOtherOffsets) {
  Plan plan = dataParallelPlan();
  const std::string name = plan.source(1).name;
  const int64_t offset = plan.source(0).offset;
  plan.program.devices[1].arenaBytes += 4096;
  plan.program.devices[0].arenaBytes += 4096;
  plan.program.symmetricBytes += 4096;
  // Where nothing else is.
  plan.source(1).offset = plan.program.symmetricBytes - 1024;
  EXPECT_EQ(plan.verify(), "device 1, buffer '" + name +
                               "': expected at byte " + std::to_string(offset) +
                               " as device 0, buffer '" + plan.source(0).name +
                               "', found " +
                               std::to_string(plan.source(1).offset));
}

TEST(SymmetricSection, VerifierSeesOneOutside) {
  Plan plan = dataParallelPlan();
  plan.program.devices[1].arenaBytes = plan.program.symmetricBytes + 8192;
  plan.source(1).offset = plan.program.symmetricBytes + 4096;
  EXPECT_EQ(plan.verify(),
            "device 1, buffer '" + plan.source(1).name +
                "': expected inside of the symmetric section as device 0, "
                "buffer '" +
                plan.source(0).name + "', found the contrary");
  plan.program.devices[0].arenaBytes = plan.program.symmetricBytes + 8192;
  plan.source(0).offset = plan.program.symmetricBytes + 4096;
  EXPECT_EQ(plan.verify(), "");
}

TEST(SymmetricSection, VerifierSeesTheBorder) {
  Plan plan = dataParallelPlan();
  plan.program.devices[0].arenaBytes = plan.program.symmetricBytes + 8192;
  plan.source(0).offset = plan.program.symmetricBytes - 64;
  EXPECT_EQ(plan.verify(),
            "device 0, buffer '" + plan.source(0).name + "': ends at byte " +
                std::to_string(plan.source(0).offset + plan.source(0).bytes) +
                ", expected at most " +
                std::to_string(plan.program.symmetricBytes) +
                ", the end of the symmetric section");
}

TEST(SymmetricSection, VerifierSeesSizes) {
  Plan plan = dataParallelPlan();
  plan.program.symmetricBytes -= 64;
  EXPECT_EQ(plan.verify(),
            "symmetric section: expected a multiple of 4096 bytes, found " +
                std::to_string(plan.program.symmetricBytes));
  plan.program.symmetricBytes += 64 + (int64_t(1) << 20);
  EXPECT_EQ(plan.verify(),
            "device 0: expected an arena of at least " +
                std::to_string(plan.program.symmetricBytes) +
                " bytes, the symmetric section, found " +
                std::to_string(plan.program.devices[0].arenaBytes));
}

} // namespace
