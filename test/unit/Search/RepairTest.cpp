//===- RepairTest.cpp - parts of others, and windows ----------------------===//

#include "Repair.h"

#include "SearchFixture.h"

#include <set>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;

namespace {

class RepairTest : public SearchTest {
protected:
  void use(TestGraph given) {
    SearchTest::use(4);
    g.emplace(std::move(given));
    space.emplace(g->graph, 4);
    walker.emplace(*space, *cost);
  }

  /// The anchors' choices, all else follows.
  Strategy strategyOf(const std::vector<Configuration> &configs) {
    std::vector<Choice> choices;
    for (size_t a = 0; a < configs.size(); ++a)
      choices.push_back({space->anchors()[a], configs[a]});
    Walker other(*space, *cost);
    other.propose(choices);
    other.accept();
    return other.strategy();
  }

  Repair repair(std::vector<Choice> pins = {}) {
    pinned = std::move(pins);
    return Repair(
        *space, *walker, pinned, [this] { return mayTake; },
        [this] { return goesOn; });
  }

  std::optional<TestGraph> g;
  std::optional<Space> space;
  std::optional<Walker> walker;
  std::vector<Choice> pinned;
  bool mayTake = true, goesOn = true;
};

const Configuration kOne = Configuration::onDevice(0);

/// Of the samples.
const Configuration kAll{{{0, 4}}, {0, 1, 2, 3}};

/// Two models that have nothing to do with each other.
TestGraph towers(int64_t k) {
  TestGraph g;
  for (const char *name : {"a", "b"}) {
    const std::string n = name;
    ValueId y =
        g.product(n + "1", g.input("x" + n, {64, k}), g.state("v" + n, {k, k}));
    g.output("out/" + n, g.product(n + "2", y, g.state("w" + n, {k, k})));
  }
  return g;
}

/// Each has one tower right.
TEST_F(RepairTest, TakesOverRegions) {
  use(towers(256));
  const Strategy mine = strategyOf({kAll, kAll, kOne, kOne}),
                 theirs = strategyOf({kOne, kOne, kAll, kAll});
  walker->assign(mine);
  Repair repaired = repair();
  // Four anchors differ, which are two regions.
  repaired.run({&theirs}, 6, /*thoroughly=*/false);
  EXPECT_EQ(walker->strategy(), strategyOf({kAll, kAll, kAll, kAll}));
  EXPECT_EQ(repaired.counts()[0].proposed, 6);
  EXPECT_EQ(repaired.counts()[0].accepted, 1);
}

/// What is between two layers takes longer to send than a layer to compute. To
/// divide both, both have to be chosen at once.
TEST_F(RepairTest, WindowsChooseForNeighboursTogether) {
  use(layers(256));
  const Strategy first = strategyOf({kAll, kOne}),
                 second = strategyOf({kOne, kAll}),
                 mine = strategyOf({kOne, kOne});
  std::vector<std::vector<Configuration>> candidates(2);
  for (size_t a = 0; a < candidates.size(); ++a)
    for (const Configuration &config : {kOne, kAll})
      for (const Configuration &relative :
           space->relatives(space->anchors()[a], config))
        candidates[a].push_back(relative);
  const Baseline best = exhaustive(*space, *walker, candidates);
  for (bool thoroughly : {false, true}) {
    walker->assign(mine);
    repair().run({&first, &second}, 1000, thoroughly);
    EXPECT_EQ(walker->makespan() == best.quality.makespan, thoroughly)
        << walker->makespan() << ", best " << best.quality.makespan;
  }
}

/// Layers that are alike get the same, all at once.
TEST_F(RepairTest, LayersGetTheSame) {
  use(layers(256));
  const Strategy first = strategyOf({kAll, kOne});
  walker->assign(strategyOf({kOne, kOne}));
  Repair repaired = repair();
  repaired.run({&first}, 1000, /*thoroughly=*/true);
  EXPECT_EQ(walker->strategy(), strategyOf({kAll, kAll}));
  EXPECT_EQ(repaired.counts()[1].accepted, 1);
}

/// Those that are not alike do as pairs, the second with a factor moved to the
/// samples, which nobody has.
TEST_F(RepairTest, PairsChooseOnTheSameDevices) {
  TestGraph g;
  const ValueId y =
      g.product("first", g.input("x", {64, 256}), g.state("v", {256, 512}));
  g.output("out/z", g.product("second", y, g.state("w", {512, 256})));
  use(std::move(g));
  const Configuration columns{{{1, 4}}, {0, 1, 2, 3}};
  const Strategy first = strategyOf({kAll, kOne}),
                 mine = strategyOf({columns, columns});
  walker->assign(mine);
  Repair repaired = repair();
  repaired.run({&first}, 1000, /*thoroughly=*/true);
  EXPECT_EQ(walker->strategy(), strategyOf({kAll, kAll}));
}

TEST_F(RepairTest, ChangesNothingThatItMayNot) {
  use(towers(256));
  const Strategy mine = strategyOf({kOne, kOne, kOne, kOne}),
                 theirs = strategyOf({kAll, kAll, kAll, kAll});
  walker->assign(mine);
  mayTake = false;
  repair().run({&theirs}, 1000, true);
  EXPECT_EQ(walker->strategy(), mine) << "too large";
  mayTake = true;
  goesOn = false;
  repair().run({&theirs}, 1000, true);
  EXPECT_EQ(walker->strategy(), mine) << "no time";
  goesOn = true;
  repair().run({&theirs}, 0, true);
  EXPECT_EQ(walker->strategy(), mine) << "no proposals";
  repair({{space->anchors()[1], kOne}}).run({&theirs}, 1000, true);
  EXPECT_EQ(walker->config(space->anchors()[1]), kOne) << "pinned";
  EXPECT_FALSE(walker->strategy() == mine) << "others are not pinned";
}

TEST_F(RepairTest, Kicks) {
  use(towers(256));
  const Strategy mine = strategyOf({kOne, kOne, kOne, kOne});
  auto kicked = [&](uint64_t seed, std::vector<Choice> pins) {
    walker->assign(mine);
    Random random(seed);
    Repair repaired = repair(std::move(pins));
    repaired.kick(random, 2000);
    return walker->strategy();
  };
  Walker before(*space, *cost);
  before.assign(mine);
  const Strategy found = kicked(1, {});
  EXPECT_LT(walker->makespan(), before.makespan());
  EXPECT_EQ(kicked(1, {}), found) << "the same seed";
  kicked(2, {{space->anchors()[1], kOne}});
  EXPECT_EQ(walker->config(space->anchors()[1]), kOne) << "pinned";
  EXPECT_LT(walker->makespan(), before.makespan()) << "others are not pinned";
  std::vector<Choice> all;
  for (OpId anchor : space->anchors())
    all.push_back({anchor, kOne});
  EXPECT_EQ(kicked(1, all), mine) << "all pinned";
  mayTake = false;
  EXPECT_EQ(kicked(1, {}), mine) << "too large";
  mayTake = true;
  goesOn = false;
  EXPECT_EQ(kicked(1, {}), mine) << "no time";
}

/// Layers stay where they are and share these otherwise, all at once: between
/// two that are split by columns everything would have to be gathered.
TEST_F(RepairTest, DevicesShareLayersOtherwise) {
  use(towers(256));
  const Configuration columns{{{1, 2}}, {2, 0}}, others{{{0, 2}}, {3, 1}};
  const Strategy mine = strategyOf({columns, columns, others, others});
  auto regrouped = [&](std::vector<Choice> pins) {
    walker->assign(mine);
    return repair(std::move(pins)).regroup(1000);
  };
  Walker before(*space, *cost);
  before.assign(mine);
  ASSERT_TRUE(regrouped({}));
  EXPECT_LT(walker->makespan(), before.makespan());
  for (size_t a = 0; a < space->anchors().size(); ++a) {
    const std::vector<DeviceId> &devices =
        walker->config(space->anchors()[a]).devices;
    EXPECT_EQ(std::set<DeviceId>(devices.begin(), devices.end()),
              a < 2 ? (std::set<DeviceId>{0, 2}) : (std::set<DeviceId>{1, 3}));
  }
  EXPECT_FALSE(repair().regroup(1000)) << "it is done";
  regrouped({{space->anchors()[1], columns}});
  EXPECT_EQ(walker->config(space->anchors()[1]), columns) << "pinned";
  mayTake = false;
  EXPECT_FALSE(regrouped({})) << "too large";
  mayTake = true;
  goesOn = false;
  EXPECT_FALSE(regrouped({})) << "no time";
}

TEST_F(RepairTest, DevicesChangePlaces) {
  use(towers(256));
  const Configuration left{{{0, 2}}, {0, 1}}, right{{{0, 2}}, {2, 3}};
  walker->assign(strategyOf({left, right, kAll, kOne}));
  Moves moves(*space, {});
  Random random(1);
  std::vector<NumberedChoice> choices;
  int seen = 0;
  for (int i = 0; i < 200; ++i) {
    moves.exchangeDevices(*walker, random, choices);
    for (const NumberedChoice &choice : choices) {
      const Configuration &config = walker->config(choice);
      EXPECT_NE(choice.op, space->anchors()[2]) << "is everywhere";
      EXPECT_EQ(config.axes, walker->config(choice.op).axes);
      EXPECT_EQ(std::set<DeviceId>(config.devices.begin(), config.devices.end())
                    .size(),
                config.devices.size());
      seen += choice.op == space->anchors()[0] && config == right;
    }
  }
  EXPECT_GT(seen, 0) << "blocks of two";
}

/// Three or four that are alike and differ; what they have stays the same.
TEST_F(RepairTest, LayersRotate) {
  use(towers(256));
  const Configuration left{{{0, 2}}, {0, 1}};
  walker->assign(strategyOf({kOne, left, kAll, kOne}));
  Moves moves(*space, {{space->anchors()[3], kOne}});
  Random random(1);
  std::vector<NumberedChoice> choices;
  int seen = 0;
  for (int i = 0; i < 50; ++i) {
    moves.rotate(*walker, random, choices);
    if (choices.empty())
      continue;
    ++seen;
    std::multiset<ConfigId> before, after;
    for (const NumberedChoice &choice : choices) {
      EXPECT_NE(choice.op, space->anchors()[3]) << "pinned";
      EXPECT_NE(choice.config, walker->configs()[choice.op]);
      before.insert(walker->configs()[choice.op]);
      after.insert(choice.config);
    }
    EXPECT_EQ(choices.size(), 3u);
    EXPECT_EQ(before, after);
  }
  EXPECT_GT(seen, 0);
  // Two of four have the same.
  walker->assign(strategyOf({kOne, kAll, kOne, kAll}));
  Moves(*space, {}).rotate(*walker, random, choices);
  EXPECT_TRUE(choices.empty()) << "there are no three";
}

/// Towers go where the other one is, each split there as it may be; what is
/// pinned stays.
TEST_F(RepairTest, BranchesTradePlaces) {
  use(towers(256));
  const Configuration left{{{0, 2}}, {0, 1}},
      right = Configuration::onDevice(3);
  walker->assign(strategyOf({left, kOne, right, right}));
  Random random(1);
  std::vector<NumberedChoice> choices;
  std::set<int> splits; // dimensions
  for (bool isPinned : {false, true}) {
    std::vector<Choice> pins;
    if (isPinned)
      pins.push_back({space->anchors()[2], right});
    Moves moves(*space, pins);
    for (int i = 0; i < 20; ++i) {
      moves.tradeBranches(*walker, random, choices);
      ASSERT_EQ(choices.size(), isPinned ? 3u : 4u);
      for (const NumberedChoice &choice : choices) {
        const Configuration &config = walker->config(choice);
        const bool isFirst = choice.op == space->anchors()[0] ||
                             choice.op == space->anchors()[1];
        EXPECT_EQ(config.devices, isFirst ? std::vector<DeviceId>{3}
                                          : std::vector<DeviceId>({0, 1}));
        splits.insert(config.axes.empty() ? -1 : config.axes[0].dim);
      }
    }
  }
  // Whole, and in two halves: of samples and of either dimension of parameters.
  EXPECT_EQ(splits.size(), 4u);
  walker->assign(strategyOf({kAll, kOne, kOne, kAll}));
  Moves(*space, {}).tradeBranches(*walker, random, choices);
  EXPECT_TRUE(choices.empty()) << "both are everywhere";
}

/// One kind of kick takes over towers of strategies that are known to be good.
TEST_F(RepairTest, KicksTakeOverBranches) {
  use(towers(256));
  // No move makes such an order of devices.
  const Configuration known{{{0, 4}}, {2, 0, 3, 1}};
  const OpId pinned = space->anchors()[3];
  int taken = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    walker->assign(strategyOf({kOne, kOne, kOne, kOne}));
    Repair kicked = repair({{pinned, kOne}});
    std::vector<Choice> choices;
    for (OpId anchor : space->anchors())
      choices.push_back({anchor, known});
    kicked.addKnown(choices);
    Random random(seed);
    kicked.kick(random, 12);
    taken += walker->config(space->anchors()[0]) == known;
    EXPECT_EQ(walker->config(pinned), kOne);
  }
  EXPECT_GT(taken, 0);
}

TEST_F(RepairTest, Reshaped) {
  const TestGraph graph = layers(64);
  const Space eight(graph.graph, 8);
  const OpId anchor = eight.anchors()[0];
  const std::vector<DeviceId> devices{4, 5, 6, 7};
  // A factor of 2 goes to one of two other dimensions or to copies, before or
  // behind what is left; one of 4 takes the place of all.
  std::vector<Configuration> all = eight.reshaped(anchor, {{{0, 4}}, devices});
  EXPECT_EQ(all.size(), 9u);
  for (const Configuration &config : all) {
    EXPECT_EQ(config.devices, devices);
    EXPECT_EQ(config.numPoints(), 4);
    EXPECT_EQ(std::count(all.begin(), all.end(), config), 1);
  }
  // To what is split already.
  all = eight.reshaped(anchor, {{{0, 2}, {1, 2}}, devices});
  EXPECT_EQ(
      std::count(all.begin(), all.end(), Configuration{{{1, 4}}, devices}), 1);
  EXPECT_TRUE(eight.reshaped(anchor, Configuration::onDevice(0)).empty());
  EXPECT_TRUE(
      eight.reshaped(anchor, {{GridAxis::withShares(0, {3, 1})}, {0, 1}})
          .empty());
}

TEST_F(RepairTest, Relatives) {
  const TestGraph graph = layers(64);
  const Space eight(graph.graph, 8);
  const OpId anchor = eight.anchors()[0];
  const std::vector<Configuration> all =
      eight.candidates(anchor, /*firstPlaceOnly=*/false);
  const Configuration grid{{{0, 2}, {1, 2}}, {4, 5, 6, 7}};
  const std::vector<Configuration> relatives = eight.relatives(anchor, grid);
  // Two orders of its axes, each on two blocks of four and every second device.
  EXPECT_EQ(relatives.size(), 8u);
  for (const Configuration &relative : relatives)
    EXPECT_NE(std::find(all.begin(), all.end(), relative), all.end());
  EXPECT_TRUE(eight.relatives(anchor, {{{0, 3}}, {0, 1, 2}}).empty());
  EXPECT_TRUE(
      eight.relatives(anchor, {{GridAxis::withShares(0, {3, 1})}, {0, 1}})
          .empty());
}

} // namespace
