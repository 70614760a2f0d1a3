//===- BranchesTest.cpp - parts of a model that do not need each other ----===//

#include "Branches.h"

#include "SearchFixture.h"

using namespace ffc::search;
using namespace ffc::plan;
using ffc::plan::testing::TestGraph;
using ffc::search::testing::chips;
using ffc::search::testing::residual;

namespace {

/// Two towers of inputs of their own, the second half as wide, and what they
/// meet in.
TestGraph towers() {
  TestGraph g;
  ValueId a =
      g.product("a", g.input("xa", {64, 256}), g.state("wa", {256, 64}));
  ValueId b =
      g.product("b", g.input("xb", {64, 128}), g.state("wb", {128, 64}));
  ValueId sum = g.sum("sum", a, b);
  ValueId y = g.product("top", sum, g.state("wt", {64, 64}));
  g.output("out/y", y);
  return g;
}

TEST(Branches, EndWhereTheyMeet) {
  const TestGraph g = towers();
  const Branches branches(g.graph);
  EXPECT_EQ(branches.of, (std::vector<int>{0, 1, -1, -1}));
  ASSERT_EQ(branches.operations.size(), 2u);
  EXPECT_DOUBLE_EQ(branches.operations[0], 2 * branches.operations[1]);
  EXPECT_TRUE(branches.areWorthwhile());
}

/// What goes round something is no branch of its own.
TEST(Branches, AreOfDifferentInputs) {
  const Branches branches(residual(64).graph);
  EXPECT_EQ(branches.operations.size(), 1u);
  EXPECT_FALSE(branches.areWorthwhile());
}

TEST(Branches, BlocksFollowTheWork) {
  Branches branches(towers().graph);
  auto text = [&](int64_t devices) {
    std::string result;
    for (const Branches::Block &block : branches.blocks(devices))
      result +=
          std::to_string(block.first) + "+" + std::to_string(block.size) + " ";
    return result;
  };
  EXPECT_EQ(text(1), "0+1 0+1 ");
  EXPECT_EQ(text(2), "0+1 1+1 ");
  EXPECT_EQ(text(3), "0+2 2+1 ");
  EXPECT_EQ(text(8), "0+4 4+2 ");
  branches.operations = {1, 8, 2, 3};
  EXPECT_EQ(text(2), "1+1 0+1 1+1 1+1 ");
  EXPECT_EQ(text(8), "7+1 0+4 6+1 4+2 ");
}

/// The recipe is what two towers on slow links are best split by.
TEST(Branches, AreARecipe) {
  const TestGraph g = towers();
  const Topology topology = chips(3);
  const CostModel cost(topology);
  Space space(g.graph, 3);
  Walker walker(space, cost);
  const std::vector<int64_t> room(3, int64_t(1) << 40);
  const auto all = baselines(space, {}, room, walker);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const Baseline &b) {
    return b.name.rfind("branches apart", 0) == 0;
  }));
}

} // namespace
