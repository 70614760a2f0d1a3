//===- EliminationTest.cpp - dynamic programming finds the least sum ------===//

#include "ffc/Search/Elimination.h"

#include "SearchFixture.h"

#include <gmock/gmock.h>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;

namespace {

AdditiveProblem randomProblem(Random &random, size_t nodes, int64_t density) {
  AdditiveProblem problem;
  for (size_t n = 0; n < nodes; ++n) {
    problem.nodes.emplace_back();
    for (int64_t c = 1 + random.below(3); c > 0; --c)
      problem.nodes.back().push_back(random.below(100));
  }
  for (size_t a = 0; a < nodes; ++a)
    for (size_t b = a + 1; b < nodes; ++b)
      if (random.below(100) < density) {
        AdditiveProblem::Edge edge{a, b, {}};
        for (size_t i = problem.nodes[a].size() * problem.nodes[b].size();
             i > 0; --i)
          edge.costs.push_back(random.below(100));
        problem.edges.push_back(std::move(edge));
      }
  return problem;
}

TEST(Elimination, LeastSumOfAnyGraph) {
  Random random(1);
  size_t reduced = 0, left = 0;
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    AdditiveProblem problem =
        randomProblem(random, 1 + trial % 8, 10 + 20 * (trial % 5));
    AdditiveSolution solution = solve(problem);
    EXPECT_TRUE(solution.isOptimal);
    EXPECT_EQ(solution.cost, problem.total(solution.choice));
    EXPECT_EQ(solution.cost, least(problem));
    (solution.irreducible ? left : reduced) += 1;
  }
  EXPECT_GT(reduced, 50u);
  EXPECT_GT(left, 50u);
}

/// What does not reduce and is too much to try is said.
TEST(Elimination, Beam) {
  Random random(2);
  AdditiveProblem problem = randomProblem(random, 8, 100);
  AdditiveSolution best = solve(problem), some = solve(problem, 4, 3);
  EXPECT_TRUE(best.isOptimal);
  EXPECT_FALSE(some.isOptimal);
  EXPECT_EQ(some.irreducible, 8u);
  EXPECT_EQ(some.cost, problem.total(some.choice));
  EXPECT_GE(some.cost, best.cost);
}

/// A beam of one that only sees what it has chosen would take the first
/// candidate, which costs nothing until the last node is there.
TEST(Elimination, BeamLooksAhead) {
  AdditiveProblem problem;
  problem.nodes = {{0, 10}, {0, 0}, {0, 0}, {0, 0}};
  for (size_t a = 0; a < 4; ++a)
    for (size_t b = a + 1; b < 4; ++b)
      problem.edges.push_back({a, b, {0, 0, 0, 0}});
  problem.edges[2].costs = {100, 100, 0, 0};
  const AdditiveSolution solution = solve(problem, 1, 1);
  EXPECT_FALSE(solution.isOptimal);
  EXPECT_EQ(solution.cost, 10);
  EXPECT_EQ(solution.choice[0], 1u);
}

/// A beam that keeps all is exact.
TEST(Elimination, WideBeam) {
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const AdditiveProblem problem = randomProblem(random, 7, 100);
    EXPECT_EQ(solve(problem, 1, 1 << 12).cost, least(problem));
  }
}

/// A chain and a way past two layers, with gradients and updates, reduce, and
/// give what trying all combinations gives.
TEST(Elimination, EqualsExhaustiveSearchOfItsOwnCost) {
  const Topology topology = chips(4);
  const CostModel cost(topology);
  for (const TestGraph &g : {layers(64), layers(1024), residual(64),
                             residual(1024), trainingGraph()}) {
    Space space(g.graph, 4);
    SegmentTable table(g.graph, 4, cost);
    EliminationProblem problem =
        *eliminationProblem(space, table, {}, {}, 1000);
    EXPECT_EQ(problem.candidates.size(), space.anchors().size());
    AdditiveSolution solution = solve(problem.costs);
    EXPECT_EQ(solution.irreducible, 0u);
    EXPECT_TRUE(solution.isOptimal);
    EXPECT_EQ(solution.cost, least(problem.costs));
  }
}

/// On one device nothing is at the same time, and nothing moves: the sum is the
/// time of the step.
TEST(Elimination, CostOfOneDeviceIsItsTime) {
  const Topology topology = chips(2);
  const CostModel cost(topology);
  for (const TestGraph &g : {layers(256), residual(256), trainingGraph()}) {
    Space space(g.graph, 2);
    SegmentTable table(g.graph, 2, cost);
    Walker walker(space, table);
    EliminationProblem problem =
        *eliminationProblem(space, table, {walker.strategy()}, {}, 1);
    EXPECT_EQ(solve(problem.costs).cost, walker.makespan());
  }
}

TEST(Elimination, CandidatesArePinnedOrKnownOrCheap) {
  const Topology topology = chips(4);
  const CostModel cost(topology);
  TestGraph g = layers(256);
  Space space(g.graph, 4);
  SegmentTable table(g.graph, 4, cost);
  Configuration pin{{{2, 2}}, {3, 1}};
  Configuration known{{{1, 2}, {0, 2}}, {3, 1, 2, 0}};
  EliminationProblem problem =
      *eliminationProblem(space, table, {{known, known}}, {{1, pin}}, 5);
  ASSERT_EQ(problem.candidates[0].size(), 5u);
  EXPECT_EQ(problem.candidates[0][0], known);
  EXPECT_THAT(problem.candidates[1], ::testing::ElementsAre(pin));
  for (size_t c = 2; c < 5; ++c)
    EXPECT_LE(problem.costs.nodes[0][c - 1], problem.costs.nodes[0][c]);
  for (const Configuration &config : problem.candidates[0])
    EXPECT_FALSE(checkConfiguration(g.graph, 0, config, 4));
}

TEST(Elimination, IsAStartOfTheSearch) {
  const Topology topology = chips(4);
  const CostModel cost(topology);
  TestGraph g = residual(1024);
  Options options;
  options.budget = 100;
  Result result = searchStrategy(g.graph, topology, cost, options);
  ASSERT_TRUE(result.elimination);
  EXPECT_EQ(result.beamAnchors, 0u);
  EXPECT_LE(result.quality.makespan, result.elimination->quality.makespan);
  SegmentTable table(g.graph, 4, cost);
  EXPECT_FALSE(eliminationProblem(Space(g.graph, 4), table, {}, {}, 8,
                                  [] { return true; }));
  options.budget = 0;
  EXPECT_FALSE(searchStrategy(g.graph, topology, cost, options).elimination);
}

} // namespace
