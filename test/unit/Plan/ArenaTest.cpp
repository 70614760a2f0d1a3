//===- ArenaTest.cpp - results in place of operands -----------------------===//

#include "ffc/Plan/Arena.h"

#include "TestGraph.h"
#include "TestTopology.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/Verifier.h"

#include "gtest/gtest.h"

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

constexpr int64_t kBytes = 8 * 32 * 4; ///< of every tensor

struct Plan {
  explicit Plan(const TestGraph &g)
      : graph(g.graph), strategy(graph.ops.size(), Configuration::onDevice(0)),
        topology(parse("devices: 1 x cpu-core\n")),
        program(planProgram(graph, strategy, 1, CostModel(topology))) {}

  std::string verify() const {
    return verifyProgram(graph, strategy, program, topology).value_or("");
  }
  Buffer &buffer(const std::string &name) {
    for (Buffer &buffer : program.devices[0].buffers)
      if (buffer.name == name)
        return buffer;
    ADD_FAILURE() << "no buffer " << name;
    return program.devices[0].buffers.front();
  }
  int64_t offset(const std::string &name) { return buffer(name).offset; }

  Graph graph;
  Strategy strategy;
  std::string error;
  Topology topology;
  Program program;
};

TEST(Arena, ChainsStayInOnePlace) {
  TestGraph g;
  ValueId x = g.input("x", {8, 32}), y = g.input("y", {8, 32});
  ValueId a = g.sum("a", x, y);
  ValueId b = g.sum("b", a, y);
  ValueId c = g.sum("c", b, b);
  g.output("out/c", c);
  Plan plan(g);
  EXPECT_EQ(plan.verify(), "");
  EXPECT_EQ(plan.offset("a"), plan.offset("x"));
  EXPECT_EQ(plan.offset("b"), plan.offset("x"));
  EXPECT_EQ(plan.offset("c"), plan.offset("x"));
  EXPECT_NE(plan.offset("y"), plan.offset("x"));
  EXPECT_EQ(plan.program.devices[0].arenaBytes, 2 * kBytes);
}

TEST(Arena, WhatIsReadLaterStays) {
  TestGraph g;
  ValueId x = g.input("x", {8, 32}), y = g.input("y", {8, 32});
  ValueId a = g.sum("a", x, y);
  ValueId b = g.sum("b", x, a);
  g.output("out/b", b);
  Plan plan(g);
  EXPECT_EQ(plan.verify(), "");
  EXPECT_EQ(plan.offset("a"), plan.offset("y"));
  EXPECT_NE(plan.offset("a"), plan.offset("x"));
  EXPECT_EQ(plan.offset("b"), plan.offset("x"));
}

/// A result has one operand's place, an operand one successor.
TEST(Arena, NeighboursAreNotOverwritten) {
  TestGraph g;
  ValueId x = g.input("x", {8, 32});
  ValueId a = g.window("a", x);
  ValueId b = g.sum("b", a, a);
  g.output("out/b", b);
  Plan plan(g);
  EXPECT_EQ(plan.verify(), "");
  EXPECT_NE(plan.offset("a"), plan.offset("x"));
  EXPECT_EQ(plan.offset("b"), plan.offset("a"));
}

/// b reads a; c, later, what has a's bytes in another shape.
TestGraph withAnotherShape() {
  TestGraph g;
  ValueId x = g.input("x", {8, 32});
  ValueId a = g.window("a", x);
  ValueId v = g.reshape("v", a, {32, 8});
  ValueId b = g.sum("b", a, a);
  ValueId c = g.sum("c", v, v);
  g.output("out/b", b);
  g.output("out/c", c);
  return g;
}

/// What has an operand's bytes lies there while that is read, and nothing
/// overwrites them before all of their shapes are read.
TEST(Arena, OtherShapesAreTheSameBytes) {
  Plan plan(withAnotherShape());
  EXPECT_EQ(plan.verify(), "");
  EXPECT_EQ(plan.offset("v"), plan.offset("a"));
  EXPECT_EQ(plan.offset("c"), plan.offset("a"));
  EXPECT_NE(plan.offset("b"), plan.offset("a"));
  // x is free when a is there.
  EXPECT_EQ(plan.program.devices[0].arenaBytes, 2 * kBytes);
  plan.buffer("b").offset = plan.offset("a");
  EXPECT_EQ(plan.verify(),
            "device 0: buffers 'b' and 'a' share bytes while both are in use");
}

/// A part is what was cut out for the operator that takes it.
TEST(Arena, PartsAreWhatWasCutOut) {
  TestGraph g;
  ValueId a = g.window("a", g.input("x", {8, 32}));
  g.output("out/b", g.window("b", g.part("p", a, 2, 4)));
  Plan plan(g);
  EXPECT_EQ(plan.verify(), "");
  EXPECT_EQ(plan.buffer("a.2").region.volume(), 4 * 32);
  EXPECT_EQ(plan.offset("p"), plan.offset("a.2"));
  EXPECT_NE(plan.offset("p"), plan.offset("a"));
}

/// A shape that lies elsewhere is a buffer like others.
TEST(Arena, OtherShapesElsewhere) {
  Plan plan(withAnotherShape());
  ASSERT_EQ(plan.verify(), "");
  plan.program.devices[0].arenaBytes += kBytes;
  plan.buffer("v").offset = plan.buffer("c").offset = 2 * kBytes;
  EXPECT_EQ(plan.verify(), "");
  plan.buffer("v").offset = plan.offset("b");
  EXPECT_NE(plan.verify().find("share bytes while both are in use"),
            std::string::npos);
}

TEST(Arena, VerifierWantsTheEqualRange) {
  TestGraph g;
  ValueId x = g.input("x", {8, 32}), y = g.input("y", {8, 32});
  ValueId a = g.sum("a", x, y);
  ValueId b = g.window("b", a);
  g.output("out/b", b);
  {
    Plan plan(g);
    ASSERT_EQ(plan.verify(), "");
    // A part of the operand.
    plan.program.devices[0].arenaBytes += 64;
    plan.buffer("a").offset += 64;
    EXPECT_NE(plan.verify().find("share bytes while both are in use"),
              std::string::npos);
  }
  {
    // An operator that reads neighbours.
    Plan plan(g);
    plan.buffer("b").offset = plan.offset("a");
    EXPECT_EQ(
        plan.verify(),
        "device 0: buffers 'b' and 'a' share bytes while both are in use");
  }
  {
    // An operand that is read later, by the same kind of operator.
    TestGraph h;
    ValueId u = h.input("u", {8, 32}), v = h.input("v", {8, 32});
    h.output("out/d", h.sum("d", u, h.sum("c", u, v)));
    Plan plan(h);
    ASSERT_EQ(plan.verify(), "");
    plan.buffer("c").offset = plan.offset("u");
    EXPECT_NE(plan.verify(), "");
  }
}

} // namespace
