//===- SearchTest.cpp - the search finds good strategies, always the same -===//

#include "ffc/Search/Search.h"

#include "SearchFixture.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/StrategyFile.h"
#include "ffc/Plan/Timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;

namespace {

TEST_F(SearchTest, AnchorsAndFollowers) {
  TestGraph g = trainingGraph();
  Space space(g.graph, 2);
  std::vector<std::string> anchors;
  size_t followers = 0;
  for (OpId anchor : space.anchors()) {
    anchors.push_back(g.graph.op(anchor).name);
    followers += space.followers(anchor).size();
  }
  EXPECT_EQ(anchors.size() + followers, g.graph.ops.size());
  for (OpId op : space.anchors())
    EXPECT_LT(g.graph.op(op).owner, 0);
}

/// Layers of one shape are alike where the same configurations are legal.
TEST_F(SearchTest, AlikeAllowTheSame) {
  TestGraph g = layers(64);
  EXPECT_EQ(Space(g.graph, 2).alike(0).size(), 2u);
  // The sums of one are clamped.
  g.graph.ops[0].rules.schedules[0].unsplit = {2};
  EXPECT_EQ(Space(g.graph, 2).alike(0).size(), 1u);
  g.graph.ops[1].rules.schedules[0].unsplit = {2};
  EXPECT_EQ(Space(g.graph, 2).alike(0).size(), 2u);
  // Only the first one loads what it reads.
  for (Op &op : g.graph.ops) {
    op.rules.dims.push_back({"g", 2});
    op.rules.schedules[0].phases[0].reads[0].access.dims[1] =
        DimMap::digits({2, 3});
  }
  EXPECT_EQ(Space(g.graph, 2).alike(0).size(), 1u);
}

/// What can be split by samples behind an operator that cannot is a choice of
/// its own, else data parallelism would end there.
TEST_F(SearchTest, WhatRegainsSamplesIsAnAnchor) {
  for (bool whole : {false, true}) {
    TestGraph g;
    ValueId x = g.product("in", g.input("x", {64, 8}), g.state("w", {8, 8}));
    ValueId y = g.window("middle", x);
    if (whole)
      g.graph.ops.back().rules.schedules.front().unsplit = {0};
    g.output("out/z", g.window("out", y));
    const Space space(g.graph, 4);
    std::vector<std::string> anchors;
    for (OpId anchor : space.anchors())
      anchors.push_back(g.graph.op(anchor).name);
    EXPECT_EQ(anchors, whole ? std::vector<std::string>({"in", "out"})
                             : std::vector<std::string>({"in"}));
  }
}

/// One-hot rows of many classes would else be made whole by everybody who has
/// the indices; a view of what is there opens nothing.
TEST_F(SearchTest, WhatOpensADimensionIsAnAnchor) {
  for (int64_t classes : {1, 32}) {
    TestGraph g;
    const ValueId x =
        g.product("in", g.input("x", {64, 8}), g.state("w", {8, 8}));
    g.output("out/z", g.repeat("hot", x, classes));
    const Space space(g.graph, 4);
    std::vector<std::string> anchors;
    for (OpId anchor : space.anchors())
      anchors.push_back(g.graph.op(anchor).name);
    EXPECT_EQ(anchors, classes > 1 ? std::vector<std::string>({"in", "hot"})
                                   : std::vector<std::string>({"in"}));
  }
}

/// What a walker makes of choices for the anchors is what a strategy file with
/// them means.
TEST_F(SearchTest, FollowersAreThoseOfStrategyFiles) {
  use(4);
  TestGraph g = trainingGraph();
  Space space(g.graph, 4);
  Walker walker(space, *cost);
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    std::vector<Choice> choices;
    std::vector<std::optional<Configuration>> given(g.graph.ops.size());
    for (OpId anchor : space.anchors()) {
      choices.push_back({anchor, space.candidate(anchor, random)});
      given[anchor] = choices.back().config;
    }
    walker.propose(choices);
    walker.accept();
    Strategy expected = completeStrategy(g.graph, given);
    EXPECT_EQ(walker.strategy(), expected);
    Program program = planProgram(g.graph, expected, 4, *cost);
    EXPECT_EQ(walker.makespan(),
              timeProgram(g.graph, expected, program, *cost).makespan);
    // The estimate has all state.
    std::vector<int64_t> memory = walker.memory();
    for (int d = 0; d < 4; ++d)
      EXPECT_GE(memory[d], program.devices[d].stateBytes);
  }
}

TEST_F(SearchTest, CandidatesAreLegalAndUseAnyDimension) {
  TestGraph g = layers(64);
  Space space(g.graph, 8);
  Random random(1);
  std::set<int> dims;
  std::set<int64_t> points;
  for (int i = 0; i < 500; ++i) {
    Configuration config = space.candidate(space.anchors()[0], random);
    EXPECT_EQ(checkConfiguration(g.graph, space.anchors()[0], config, 8),
              std::nullopt);
    points.insert(config.numPoints());
    for (const GridAxis &axis : config.axes)
      dims.insert(axis.dim);
  }
  EXPECT_THAT(points, ::testing::ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(dims, ::testing::ElementsAre(kReplica, 0, 1, 2));
}

TEST_F(SearchTest, NeverWorseThanRecipesNorBetterThanTheBound) {
  for (int devices : {1, 2, 4, 6}) {
    use(devices);
    TestGraph g = trainingGraph();
    options.budget = 400;
    Result result = run(g.graph);
    EXPECT_LE(result.quality.makespan,
              result.baselines.front().quality.makespan);
    EXPECT_GE(result.quality.makespan, result.bound);
    EXPECT_GT(result.bound, 0);
    Program program = planProgram(g.graph, result.strategy, devices, *cost);
    EXPECT_EQ(timeProgram(g.graph, result.strategy, program, *cost).makespan,
              result.quality.makespan);
  }
}

TEST_F(SearchTest, MoreDevicesOrFewer) {
  TestGraph g = layers(64);
  Space space(g.graph, 8);
  auto text = [&](const std::optional<Configuration> &config) {
    return config ? config->str(g.graph.op(0).rules) : "none";
  };
  const Configuration grid{{{0, 2}, {1, 2}}, {4, 5, 6, 7}};
  EXPECT_EQ(text(space.grown(0, grid, 2)), "{n = 2, c = 4} on 0-7");
  EXPECT_EQ(text(space.shrunk(0, grid, 2)), "{n = 2} on 4 5");
  EXPECT_EQ(text(space.grown(0, grid, 4)), "none");
  EXPECT_EQ(text(space.shrunk(0, grid, 4)), "none");
  EXPECT_EQ(text(space.grown(0, Configuration::onDevice(3), 2)),
            "{replica = 2} on 2 3");
}

/// What others have met before changes no time.
TEST_F(SearchTest, WalkersShareATable) {
  use(4);
  TestGraph g = trainingGraph();
  Space space(g.graph, 4), narrow(g.graph, 4, /*forFlexFlow=*/true);
  SegmentTable table(g.graph, 4, *cost);
  Walker first(narrow, table), second(space, table), alone(space, *cost);
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const OpId other =
        narrow.anchors()[random.below(int64_t(narrow.anchors().size()))];
    first.propose({{other, narrow.candidate(other, random)}});
    first.accept();
    const OpId anchor =
        space.anchors()[random.below(int64_t(space.anchors().size()))];
    const Choice choice{anchor, space.candidate(anchor, random),
                        random.oneIn(2) ? space.options(anchor)
                                        : ChoiceOptions()};
    EXPECT_EQ(second.propose({choice}), alone.propose({choice}));
    second.accept();
    alone.accept();
    EXPECT_EQ(second.strategy(), alone.strategy());
  }
  EXPECT_GT(second.numSegments(), alone.numSegments());
}

/// Sharded updates are part of a choice, and seen in strategies.
TEST_F(SearchTest, ShardedUpdates) {
  use(4);
  TestGraph g = trainingGraph();
  Space space(g.graph, 4);
  Walker walker(space, *cost), other(space, *cost);
  const OpId owner = 2, update = 4;
  const Configuration samples{{{0, 4}}, {0, 1, 2, 3}};
  EXPECT_TRUE(space.options(owner).has(ChoiceOption::ShardUpdates));
  walker.propose({{owner, samples, space.options(owner)}});
  walker.reject();
  EXPECT_TRUE(walker.choice(owner).options.empty());
  std::vector<int64_t> bytes;
  for (bool sharded : {false, true}) {
    ChoiceOptions options;
    options.set(ChoiceOption::ShardUpdates, sharded);
    walker.propose({{owner, samples, options}});
    walker.accept();
    bytes.push_back(walker.memory()[0]);
    EXPECT_EQ(walker.config(update).str(g.graph.op(update).rules),
              sharded ? "{d0 = 4} on 0 1 2 3" : "{replica = 4} on 0 1 2 3");
    EXPECT_EQ(walker.choice(owner), (Choice{owner, samples, options}));
    other.assign(walker.strategy());
    EXPECT_EQ(other.choice(owner), walker.choice(owner));
    Program program = planProgram(g.graph, walker.strategy(), 4, *cost);
    EXPECT_EQ(walker.makespan(),
              timeProgram(g.graph, walker.strategy(), program, *cost).makespan);
  }
  EXPECT_LT(bytes[1], bytes[0]);
}

/// Markov chains find what trying everything finds.
TEST_F(SearchTest, FindsTheOptimumOfSmallSpaces) {
  use(4);
  for (int64_t features : {64, 512, 2048}) {
    TestGraph g = layers(features);
    Space space(g.graph, 4);
    Walker walker(space, *cost);
    std::vector<std::vector<Configuration>> candidates;
    for (OpId anchor : space.anchors())
      candidates.push_back(space.candidates(anchor, /*firstPlaceOnly=*/true));
    Baseline best = exhaustive(space, walker, candidates);
    options.budget = 8000;
    EXPECT_EQ(run(g.graph).quality.makespan, best.quality.makespan) << features;
  }
}

TEST_F(SearchTest, ExhaustiveTriesAllCombinations) {
  use(4);
  TestGraph g = layers(512);
  Space space(g.graph, 4);
  Walker walker(space, *cost);
  const Configuration one{{}, {0}}, rows{{{0, 4}}, {0, 1, 2, 3}},
      columns{{{1, 4}}, {0, 1, 2, 3}}, sums{{{2, 4}}, {0, 1, 2, 3}};
  Picoseconds least = kNoLimit;
  for (const Configuration &first : {one, rows, columns})
    for (const Configuration &second : {columns, sums}) {
      walker.propose(
          {{space.anchors()[0], first}, {space.anchors()[1], second}});
      walker.accept();
      least = std::min(least, walker.makespan());
    }
  Baseline best =
      exhaustive(space, walker, {{one, rows, columns}, {columns, sums}});
  EXPECT_EQ(best.quality.makespan, least);
  walker.assign(best.strategy);
  EXPECT_EQ(walker.makespan(), least);
}

TEST_F(SearchTest, RandomCandidatesAreAmongAll) {
  TestGraph g = layers(64);
  Space space(g.graph, 6);
  std::vector<Configuration> all = space.candidates(0, false);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(all[i] == all[j]) << i << " " << j;
  Random random(2);
  for (int i = 0; i < 300; ++i)
    EXPECT_NE(std::find(all.begin(), all.end(), space.candidate(0, random)),
              all.end());
}

TEST_F(SearchTest, SameAnswerOnAnyNumberOfThreads) {
  use(4);
  TestGraph g = trainingGraph();
  options.budget = 2000;
  options.seed = 5;
  options.threads = 1;
  Result one = run(g.graph);
  options.threads = 3;
  Result three = run(g.graph);
  EXPECT_EQ(one.strategy, three.strategy);
  EXPECT_EQ(one.quality.makespan, three.quality.makespan);
  EXPECT_EQ(one.accepted, three.accepted);
}

/// The fewer candidates there are, the sooner.
TEST_F(SearchTest, EndsWhenNoMoreIsGained) {
  TestGraph g = trainingGraph();
  int64_t before = 0;
  for (int devices : {2, 4, 8}) {
    use(devices);
    options.budget.reset();
    Result early = run(g.graph);
    const int64_t most = defaultBudget(devices, g.graph.ops.size());
    EXPECT_GT(early.proposals, 2 * before);
    before = early.proposals;
    // A budget that is given is spent, and hardly gains more.
    options.budget = most;
    Result all = run(g.graph);
    EXPECT_EQ(all.proposals, most);
    EXPECT_LT(early.proposals, most / 2);
    EXPECT_LE(static_cast<double>(early.quality.makespan),
              1.003 * static_cast<double>(all.quality.makespan));
  }
}

/// What FlexFlow's strategy files can say: no sums split, no copies, no sharded
/// updates, for forward operators alone.
TEST_F(SearchTest, ForFlexFlow) {
  use(4);
  TestGraph g = trainingGraph();
  Space space(g.graph, 4, /*forFlexFlow=*/true);
  Random random(6);
  for (OpId anchor : space.anchors()) {
    EXPECT_EQ(g.graph.op(anchor).role, OpRole::Forward);
    EXPECT_TRUE(space.options(anchor).empty());
    for (const Configuration &config : space.candidates(anchor, false))
      EXPECT_TRUE(isSaidInFlexFlow(g.graph.op(anchor), config));
    EXPECT_TRUE(space.allows(anchor, space.candidate(anchor, random)));
    EXPECT_FALSE(space.allows(anchor, {{{kReplica, 2}}, {0, 1}}));
  }
  options.forFlexFlow = true;
  options.budget = 1000;
  Result found = run(g.graph);
  std::vector<Strategy> all = {found.strategy, found.elimination->strategy};
  for (const Baseline &baseline : found.baselines)
    all.push_back(baseline.strategy);
  for (const Strategy &strategy : all) {
    PartialStrategy said(strategy.size());
    for (OpId anchor : space.anchors()) {
      EXPECT_TRUE(space.allows(anchor, strategy[anchor]));
      said[anchor] = strategy[anchor];
    }
    EXPECT_EQ(completeStrategy(g.graph, said), strategy);
  }
}

TEST_F(SearchTest, PinsAreKept) {
  use(4);
  TestGraph g = layers(256);
  Configuration pin{{{0, 2}}, {3, 1}};
  options.budget = 1000;
  options.pinned = {{1, pin}};
  EXPECT_EQ(run(g.graph).strategy[1], pin);
}

/// With nothing left to choose there is one plan, and no recipe made it.
TEST_F(SearchTest, EverythingPinned) {
  use(4);
  TestGraph g = layers(256);
  Space space(g.graph, 4);
  for (OpId anchor : space.anchors())
    options.pinned.push_back({anchor, Configuration{{{0, 2}}, {3, 1}}});
  Result found = run(g.graph);
  ASSERT_EQ(found.baselines.size(), 1u);
  EXPECT_EQ(found.baselines[0].name, "as pinned");
  EXPECT_EQ(found.baselines[0].strategy, found.strategy);
}

TEST_F(SearchTest, StartsFromWhatIsGiven) {
  use(4);
  TestGraph g = layers(256);
  options.budget = 0;
  Result recipes = run(g.graph);
  options.budget = 4000;
  Result found = run(g.graph);
  options.budget = 0;
  options.start = found.strategy;
  Result again = run(g.graph);
  EXPECT_LE(found.quality.makespan, recipes.quality.makespan);
  EXPECT_EQ(again.quality.makespan, found.quality.makespan);
}

TEST_F(SearchTest, StopsWhenTold) {
  use(4);
  TestGraph g = trainingGraph();
  std::atomic<bool> stop{true};
  options.stop = &stop;
  Result result = run(g.graph);
  EXPECT_EQ(result.proposals, 0);
  EXPECT_EQ(result.quality.makespan, result.baselines.front().quality.makespan);
  // Not even all recipes are tried.
  EXPECT_EQ(result.baselines.size(), 2u);
  options.stop = nullptr;
  options.seconds = 1e-9;
  EXPECT_EQ(run(g.graph).baselines.size(), 2u);
}

TEST_F(SearchTest, SaysWhereItIs) {
  use(4);
  TestGraph g = trainingGraph();
  options.budget = 400;
  std::set<std::string> phases;
  options.progress = [&](const Progress &progress) {
    phases.insert(progress.phase);
    EXPECT_GT(progress.best, 0);
  };
  run(g.graph);
  const std::set<std::string> expected = {"recipes", "dynamic programming",
                                          "orders of devices", "proposals"};
  EXPECT_EQ(phases, expected);
}

/// FlexFlow's layers have dimensions.
TEST(Search, OperatorsThatFlexFlowCannotSayHaveALegalCandidate) {
  TestGraph g;
  g.output("out/z", g.reshape("z", g.input("x", {1, 1}), {}));
  const Space space(g.graph, 4, /*forFlexFlow=*/true);
  ASSERT_EQ(space.anchors().size(), 1u);
  Random random(1);
  for (int trial = 0; trial < 10; ++trial)
    EXPECT_EQ(checkConfiguration(g.graph, 0, space.candidate(0, random), 4),
              std::nullopt);
}

} // namespace
