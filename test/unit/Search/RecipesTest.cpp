//===- RecipesTest.cpp - experts' recipes ---------------------------------===//

#include "SearchFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;

namespace {

using RecipesTest = SearchTest;

/// "{n = 2, c = 2} on 0 1 2 3" of every operator in a recipe.
std::vector<std::string> recipe(const Graph &graph, const CostModel &cost,
                                int devices, const std::string &name) {
  Space space(graph, devices);
  Walker walker(space, cost);
  const std::vector<int64_t> room(devices, INT64_MAX);
  std::vector<std::string> lines;
  for (const Baseline &baseline : baselines(space, {}, room, walker))
    if (baseline.name == name)
      for (size_t op = 0; op < baseline.strategy.size(); ++op)
        lines.push_back(baseline.strategy[op].str(graph.ops[op].rules));
  return lines;
}

/// Two layers: by columns, then by the rows that these are.
TEST_F(RecipesTest, TensorGroups) {
  use(4);
  TestGraph g = layers(2048);
  EXPECT_THAT(
      recipe(g.graph, *cost, 4, "tensor 4"),
      ::testing::ElementsAre("{c = 4} on 0 1 2 3", "{k = 4} on 0 1 2 3"));
  EXPECT_THAT(recipe(g.graph, *cost, 4, "tensor 2 x data 2"),
              ::testing::ElementsAre("{n = 2, c = 2} on 0 1 2 3",
                                     "{n = 2, k = 2} on 0 1 2 3"));
}

/// Weights side by side are parameters of the layer that reads them; what is
/// computed of several is none.
TEST_F(RecipesTest, TensorGroupsOfWeightsSideBySide) {
  use(4);
  const auto layersWith = [&](auto makeOne) {
    TestGraph g;
    const ValueId x = g.input("x", {64, 512}),
                  w = (g.*makeOne)("w", g.state("w1", {512, 512}),
                                   g.state("w2", {512, 512})),
                  y = g.product("first", x, w);
    g.output("out/z",
             g.product("second", y,
                       g.state("w3", {g.graph.values[y].type.shape[1], 512})));
    return recipe(g.graph, *cost, 4, "tensor 4");
  };
  EXPECT_THAT(layersWith(&TestGraph::beside),
              ::testing::ElementsAre("{c = 4} on 0 1 2 3", "{c = 4} on 0 1 2 3",
                                     "{k = 4} on 0 1 2 3"));
  EXPECT_THAT(layersWith(&TestGraph::sum),
              ::testing::Not(::testing::Contains("{k = 4} on 0 1 2 3")));
}

/// Layers that are wide for each of four devices, but not for all samples.
TEST_F(RecipesTest, WideLayers) {
  use(4);
  TestGraph g = layers(2048);
  EXPECT_THAT(
      recipe(g.graph, *cost, 4, "data-parallel, wide layers tensor 2 x 2"),
      ::testing::ElementsAre("{c = 2, k = 2} on 0 1 2 3",
                             "{k = 2, c = 2} on 0 1 2 3"));
}

TEST_F(RecipesTest, RecipesByName) {
  use(4);
  TestGraph g = layers(256);
  options.budget = 0;
  options.recipes = {"tensor 4", "data-parallel"};
  std::vector<std::string> names;
  for (const Baseline &baseline : run(g.graph).baselines)
    names.push_back(baseline.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAreArray(options.recipes));
  // As those of a graph that has been rewritten.
  options.recipes.clear();
  const size_t all = run(g.graph).baselines.size();
  options.recipes = {"tables 2 x data 2"};
  EXPECT_EQ(run(g.graph).baselines.size(), all);
}

TEST_F(RecipesTest, NothingBehindSlowRecipes) {
  use(4);
  TestGraph g = layers(2048);
  options.budget = 40;
  const Picoseconds best = run(g.graph).baselines.front().quality.makespan;
  options.recipesWithin = best;
  EXPECT_TRUE(run(g.graph).elimination);
  options.recipesWithin = best - 1;
  const Result result = run(g.graph);
  EXPECT_FALSE(result.elimination);
  EXPECT_EQ(result.proposals, 0);
  EXPECT_EQ(result.quality.makespan, best);
}

/// A graph without updates has nothing to share.
TEST_F(RecipesTest, EachRecipeOnce) {
  use(4);
  TestGraph g = layers(256);
  Space space(g.graph, 4);
  Walker walker(space, *cost);
  const std::vector<int64_t> room(4, INT64_MAX);
  std::vector<Strategy> seen;
  for (const Baseline &baseline : baselines(space, {}, room, walker)) {
    EXPECT_THAT(baseline.name, ::testing::Not(::testing::HasSubstr("sharded")));
    EXPECT_THAT(seen, ::testing::Not(::testing::Contains(baseline.strategy)))
        << baseline.name;
    seen.push_back(baseline.strategy);
  }
  EXPECT_GE(seen.size(), 5u);
}

TEST_F(RecipesTest, Tables) {
  use(4);
  TestGraph g;
  ValueId x = g.input("x", {64, 512});
  ValueId a = g.product("a", g.input("y", {64, 8}), g.state("w1", {8, 32}));
  ValueId b = g.product("b", x, g.state("w2", {512, 1024}));
  ValueId c = g.product("c", b, g.state("w3", {1024, 512}));
  g.output("out/a", a);
  g.output("out/c", c);
  EXPECT_THAT(
      recipe(g.graph, *cost, 4, "data-parallel, table per device"),
      ::testing::ElementsAre("{n = 4} on 0 1 2 3", "{} on 0", "{} on 1"));
  EXPECT_THAT(recipe(g.graph, *cost, 4, "data-parallel, tables by rows"),
              ::testing::ElementsAre("{n = 4} on 0 1 2 3", "{c = 4} on 0 1 2 3",
                                     "{k = 4} on 0 1 2 3"));
  EXPECT_THAT(
      recipe(g.graph, *cost, 4, "data-parallel, tables by columns on 2 x 2"),
      ::testing::ElementsAre("{n = 4} on 0 1 2 3", "{n = 2, k = 2} on 0 1 2 3",
                             "{n = 2, c = 2} on 0 1 2 3"));
}

} // namespace
