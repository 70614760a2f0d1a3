//===- ConfigurationTest.cpp - legality and carrying over -----------------===//

#include "ffc/Plan/Configuration.h"

#include "TestGraph.h"
#include "ffc/Plan/Following.h"
#include "ffc/Plan/SampleDims.h"

#include "gtest/gtest.h"

using namespace ffc::plan;
using namespace ffc::plan::testing;

namespace {

/// p1 dims n=12 c=8 k=10; s dims n=12 c=8; p2 n=12 c=6 k=8; gradient k=8 c=6
/// n=12; update d0=8 d1=6.
struct ConfigurationTest : ::testing::Test {
  TestGraph g = trainingGraph();
  std::string check(OpId op, Configuration config, int devices = 4) {
    return checkConfiguration(g.graph, op, config, devices).value_or("");
  }
};

/// The strategy that one operator's configuration is carried over to.
Strategy carriedOver(const Graph &graph, OpId op, const Configuration &config) {
  std::vector<std::optional<Configuration>> given(graph.ops.size());
  given[op] = config;
  return completeStrategy(graph, given);
}

TEST_F(ConfigurationTest, TilesInRowMajorOrder) {
  Configuration config{{{1, 2}, {0, 2}}, {0, 1, 2, 3}};
  EXPECT_EQ(config.tileOf(g.graph.op(0).rules, 1).str(), "[6:12, 0:4, 0:10]");
  EXPECT_EQ(config.tileOf(g.graph.op(0).rules, 2).str(), "[0:6, 4:8, 0:10]");
  EXPECT_EQ(config.str(g.graph.op(0).rules), "{c = 2, n = 2} on 0 1 2 3");
}

TEST_F(ConfigurationTest, Errors) {
  EXPECT_EQ(check(0, {{{0, 2}}, {0, 1}}), "");
  EXPECT_EQ(check(0, {{{0, 0}}, {}}),
            "expected a positive degree for 'p1', found 0");
  EXPECT_EQ(check(0, {{{0, 13}}, {}}),
            "degree 13 of dimension 'n' of 'p1': expected at most 12");
  EXPECT_EQ(check(0, {{{0, 2}, {0, 2}}, {0, 1, 2, 3}}),
            "dimension 'n' of 'p1' is split twice");
  EXPECT_EQ(check(0, {{{0, 2}}, {0, 1, 2}}),
            "expected 2 devices for 'p1', one per grid point, found 3");
  EXPECT_EQ(check(0, {{{0, 2}}, {0, 4}}), "device 4 of 'p1': expected 0 to 3");
}

TEST_F(ConfigurationTest, Shares) {
  const OpRules &rules = g.graph.op(0).rules;
  Configuration config{{GridAxis::withShares(0, {2, 4}), {1, 2}}, {0, 1, 2, 3}};
  EXPECT_EQ(config.str(rules), "{n = 1:2, c = 2} on 0 1 2 3");
  EXPECT_EQ(check(0, config), "");
  EXPECT_EQ(config.tileOf(rules, 0).str(), "[0:4, 0:4, 0:10]");
  EXPECT_EQ(config.tileOf(rules, 3).str(), "[4:12, 4:8, 0:10]");
  // What is equal has none.
  EXPECT_EQ(GridAxis::withShares(0, {5, 5}), (GridAxis{0, 2}));
  EXPECT_EQ(GridAxis::withShares(0, {8, 8, 8, 8, 8, 8, 4}).str(), "2*6:1");
  EXPECT_EQ(check(0, {{{kReplica, 2, {1, 2}}}, {0, 1}}),
            "expected the number of copies, found shares 1:2 of 'p1'");
  EXPECT_EQ(check(0, {{{0, 2, {1, 2, 3}}}, {0, 1}}),
            "expected 2 shares, found 1:2:3 of 'p1'");
  for (int64_t share : {int64_t(0), int64_t(-1), kMaxShares})
    EXPECT_EQ(check(0, {{{0, 2, {1, share}}}, {0, 1}}),
              "expected shares of at least 1, and of at most 1048576 together, "
              "found 1:" +
                  std::to_string(share) + " of 'p1'");
}

TEST_F(ConfigurationTest, UnsplittableDimension) {
  g.graph.ops[0].rules.schedules[0].unsplit = {2};
  EXPECT_EQ(check(0, {{{2, 2}}, {0, 1}}),
            "dimension 'k' of 'p1' cannot be split");
  // A second schedule allows k, but not together with c.
  Schedule general = g.graph.ops[0].rules.schedules[0];
  general.unsplit = {1};
  g.graph.ops[0].rules.schedules.push_back(general);
  EXPECT_EQ(check(0, {{{2, 2}}, {0, 1}}), "");
  EXPECT_EQ(check(0, {{{2, 2}, {1, 2}}, {0, 1, 2, 3}}),
            "no kernel computes 'p1' split as {k = 2, c = 2} on 0 1 2 3");
}

TEST_F(ConfigurationTest, ResultMustBeABox) {
  // A result dimension made of two iteration dimensions, like c of a grouped
  // convolution.
  g.graph.ops[1].rules.dims = {{"n", 12}, {"g", 2}, {"c", 4}};
  Access digits;
  digits.dims = {DimMap::dim(0), DimMap::digits({1, 2})};
  g.graph.ops[1].rules.schedules[0].phases[0].writes[0].access = digits;
  g.graph.ops[1].rules.schedules[0].phases[0].reads[0].access = digits;
  EXPECT_EQ(
      check(1, {{{2, 2}}, {0, 1}}),
      "split {c = 2} on 0 1 of 's': a tile's result is not one box; split "
      "a leading dimension fully first");
  EXPECT_EQ(check(1, {{{1, 2}, {2, 2}}, {0, 1, 2, 3}}), "");
}

TEST_F(ConfigurationTest, WhatIsLoadedMustBeABox) {
  // k of a grouped transposed convolution.
  Op &op = g.graph.ops[0];
  op.rules.dims[2].extent = 5;
  op.rules.dims.push_back({"g", 2});
  op.rules.schedules[0].phases[0].reads[0].access.dims[1] =
      DimMap::digits({3, 2});
  EXPECT_EQ(check(0, {{{2, 2}}, {0, 1}}),
            "split {k = 2} on 0 1 of 'p1': a tile's part of 'x' is not one "
            "box; split a leading dimension fully first");
  EXPECT_EQ(check(0, {{{3, 2}, {2, 2}}, {0, 1, 2, 3}}), "");
  // Parts of what is computed are sent in as many pieces as there are.
  g.graph.values[op.operands[0]].kind = ValueKind::Activation;
  EXPECT_EQ(check(0, {{{2, 2}}, {0, 1}}), "");
}

TEST_F(ConfigurationTest, FollowersAndGradients) {
  std::vector<std::optional<Configuration>> given(g.graph.ops.size());
  given[0] = Configuration{{{1, 2}, {0, 2}}, {3, 1, 0, 2}};
  std::vector<OpId> followed;
  Strategy s = completeStrategy(g.graph, given, &followed);
  EXPECT_EQ(followed, (std::vector<OpId>{1, 2}));
  auto text = [&](OpId op) { return s[op].str(g.graph.op(op).rules); };
  EXPECT_EQ(text(1), "{c = 2, n = 2} on 3 1 0 2");
  // c of the window is the contracted dimension of p2.
  EXPECT_EQ(text(2), "{k = 2, n = 2} on 3 1 0 2");
  EXPECT_EQ(text(3), "{k = 2, n = 2} on 3 1 0 2");
  // The update splits the weight as p2 does; n has no counterpart.
  EXPECT_EQ(text(4), "{d0 = 2, replica = 2} on 3 1 0 2");
}

TEST_F(ConfigurationTest, SharesAreCarriedOver) {
  Strategy s =
      carriedOver(g.graph, 0, {{{1, 2, {3, 1}}, {0, 2, {1, 2}}}, {3, 1, 0, 2}});
  auto text = [&](OpId op) { return s[op].str(g.graph.op(op).rules); };
  EXPECT_EQ(text(1), "{c = 3:1, n = 1:2} on 3 1 0 2");
  EXPECT_EQ(text(3), "{k = 3:1, n = 1:2} on 3 1 0 2");
  EXPECT_EQ(text(4), "{d0 = 3:1, replica = 2} on 3 1 0 2");
}

TEST_F(ConfigurationTest, ReductionBecomesReplica) {
  Strategy s = carriedOver(g.graph, 0, {{{2, 3}}, {0, 1, 2}});
  EXPECT_EQ(s[1].str(g.graph.op(1).rules), "{replica = 3} on 0 1 2");
}

TEST_F(ConfigurationTest, LeadersFollowTheirReaders) {
  Strategy s = carriedOver(g.graph, 2, {{{0, 3}}, {0, 1, 2}});
  EXPECT_EQ(s[1].str(g.graph.op(1).rules), "{n = 3} on 0 1 2");
  EXPECT_EQ(s[0].str(g.graph.op(0).rules), "{n = 3} on 0 1 2");
}

/// What needs nothing but state is done where its result is needed, even if it
/// comes before all that leads.
TEST_F(ConfigurationTest, WhatNeedsOnlyStateFollowsItsReader) {
  TestGraph t;
  ValueId decayed = t.window("decay", t.state("mean", {12, 8}));
  ValueId y = t.product("p", t.input("x", {12, 4}), t.state("w", {4, 8}));
  t.sum("mix", decayed, y);
  Strategy s = carriedOver(t.graph, 1, {{{0, 3}}, {2, 1, 0}});
  EXPECT_EQ(s[2].str(t.graph.op(2).rules), "{n = 3} on 2 1 0");
  EXPECT_EQ(s[0].str(t.graph.op(0).rules), "{n = 3} on 2 1 0");
}

/// A gradient that is the only reader of what it belongs to.
TEST_F(ConfigurationTest, FollowingHasNoCycles) {
  TestGraph t;
  ValueId w = t.state("w", {8, 8});
  ValueId f = t.window("f", w);
  t.outer("f.grad", f, f, "f");
  Following following = followingOf(t.graph);
  EXPECT_EQ(following.leaders[0].op, -1);
  EXPECT_EQ(following.leaders[1].op, 0);
  EXPECT_EQ(following.order, (std::vector<OpId>{0, 1}));
  std::vector<std::optional<Configuration>> given(t.graph.ops.size());
  for (const Configuration &config : completeStrategy(t.graph, given))
    EXPECT_EQ(config, Configuration::onDevice(0));
}

/// Adds an operator over `dims` from `x` to a result of `shape`.
ValueId rearrange(Graph &graph, ValueId x, std::vector<IterDim> dims,
                  std::vector<DimMap> reads, Shape shape,
                  std::vector<DimMap> writes) {
  Op op;
  op.name = "op" + std::to_string(graph.ops.size());
  op.rules.dims = std::move(dims);
  Phase phase;
  phase.reads = {{0, {std::move(reads), MemoryOrder::RowMajor, {}}}};
  phase.writes = {
      {1, {std::move(writes), MemoryOrder::RowMajor, {}}, Reduction::None}};
  op.rules.schedules = {{{}, {phase}}};
  Value value;
  value.name = op.name;
  value.type.shape = std::move(shape);
  value.producer = static_cast<OpId>(graph.ops.size());
  graph.values[x].uses.push_back({value.producer, 0});
  auto y = static_cast<ValueId>(graph.values.size());
  graph.values.push_back(std::move(value));
  op.operands = {x};
  op.results = {y};
  graph.ops.push_back(std::move(op));
  return y;
}

/// Samples through a transposition, merged with positions and apart again.
TestGraph sequences() {
  TestGraph t;
  Graph &graph = t.graph;
  auto d = [](int dim) { return DimMap::dim(dim); };
  ValueId x = t.product("p", t.input("x", {12, 4}), t.state("w", {4, 8}));
  x = rearrange(graph, x, {{"c", 8}, {"n", 12}}, {d(1), d(0)}, {8, 12},
                {d(0), d(1)});
  x = rearrange(graph, x, {{"n", 8}, {"c", 12}}, {d(0), d(1)}, {96},
                {DimMap::digits({0, 1})});
  x = rearrange(graph, x, {{"n", 96}}, {d(0)}, {96}, {d(0)});
  rearrange(graph, x, {{"n", 8}, {"c", 12}}, {DimMap::digits({0, 1})}, {8, 12},
            {d(0), d(1)});
  return t;
}

TEST_F(ConfigurationTest, SamplesAreFollowed) {
  TestGraph t = sequences();
  EXPECT_EQ(sampleDims(t.graph), (std::vector<int>{0, 1, 1, 0, 1}));
  std::string error;
  auto given = dataParallel(t.graph, 4, error);
  ASSERT_TRUE(given);
  Strategy s = completeStrategy(t.graph, *given);
  EXPECT_EQ(s[1].str(t.graph.op(1).rules), "{n = 4} on 0 1 2 3");
  EXPECT_EQ(s[4].str(t.graph.op(4).rules), "{c = 4} on 0 1 2 3");
}

/// What `op` takes over from its leader's configuration.
std::string followed(const Graph &graph, OpId op, const Configuration &config) {
  return follow(graph, followingOf(graph).leaders[op], config, op)
      .str(graph.op(op).rules);
}

/// A block of samples is no box of the merged dimension: positions are split.
TEST_F(ConfigurationTest, LeadingDigitInsteadOfCopies) {
  auto carried = [](const Configuration &config) {
    return followed(sequences().graph, 2, config);
  };
  EXPECT_EQ(carried({{{1, 4}}, {3, 2, 1, 0}}), "{n = 4} on 3 2 1 0");
  // More samples than positions.
  EXPECT_EQ(carried({{{1, 12}}, std::vector<DeviceId>(12)}),
            "{replica = 12} on 0*12");
  EXPECT_EQ(carried({{{0, 2}, {1, 2}}, {0, 1, 2, 3}}), "{n = 4} on 0 1 2 3");
}

/// More parts than the leading digit has values are of the next digit, too.
TEST_F(ConfigurationTest, PartsOfSeveralDigits) {
  auto carried = [](const Configuration &config) {
    return followed(sequences().graph, 4, config);
  };
  EXPECT_EQ(carried({{{0, 32}}, std::vector<DeviceId>(32)}),
            "{n = 8, c = 4} on 0*32");
  EXPECT_EQ(carried({{{0, 8}}, std::vector<DeviceId>(8)}), "{n = 8} on 0*8");
  // No parts of equal samples.
  EXPECT_EQ(carried({{{0, 12}}, std::vector<DeviceId>(12)}),
            "{replica = 12} on 0*12");
}

/// Two axes that both end are copies, once.
TEST_F(ConfigurationTest, CopiesOfCopiesAreCopies) {
  const Configuration config{{{2, 2}, {kReplica, 2}}, {3, 2, 1, 0}};
  EXPECT_EQ(carryOverByName(g.graph, 0, config, 1).str(g.graph.op(1).rules),
            "{replica = 4} on 3 2 1 0");
  const Configuration apart{{{kReplica, 2}, {0, 2}, {2, 2}},
                            {0, 1, 2, 3, 0, 1, 2, 3}};
  EXPECT_EQ(carryOverByName(g.graph, 0, apart, 1).str(g.graph.op(1).rules),
            "{replica = 2, n = 2, replica = 2} on 0 1 2 3 0 1 2 3");
}

TEST_F(ConfigurationTest, DataParallel) {
  std::string error;
  auto given = dataParallel(g.graph, 4, error);
  ASSERT_TRUE(given);
  EXPECT_EQ((*given)[0]->str(g.graph.op(0).rules), "{n = 4} on 0 1 2 3");
  EXPECT_FALSE((*given)[3]);
  EXPECT_FALSE(dataParallel(g.graph, 13, error));
  EXPECT_EQ(error, "data-parallel: 'p1' splits into at most 12 parts along "
                   "'n', expected one per device (13)");
}

/// As casts of gradients, which nobody owns: it follows what it reads.
TEST_F(ConfigurationTest, DataParallelGradientsWithoutOwners) {
  const ValueId y = g.graph.op(0).results[0];
  g.sum("cast", y, y);
  g.graph.ops.back().role = OpRole::Gradient;
  std::string error;
  auto given = dataParallel(g.graph, 4, error);
  ASSERT_TRUE(given);
  EXPECT_FALSE(given->back());
  EXPECT_EQ(
      completeStrategy(g.graph, *given).back().str(g.graph.ops.back().rules),
      "{n = 4} on 0 1 2 3");
}

/// The update has d0 = 8 and d1 = 6.
TEST_F(ConfigurationTest, CopiesTakeShares) {
  const OpId update = 4;
  auto shared = [&](std::vector<GridAxis> axes) {
    Configuration config{std::move(axes), {}};
    int64_t points = 1;
    for (const GridAxis &axis : config.axes)
      points *= axis.degree;
    for (DeviceId d = 0; d < points; ++d)
      config.devices.push_back(d);
    return shareCopies(g.graph, update, config)
        .str(g.graph.op(update).rules)
        .substr(0, 25);
  };
  EXPECT_EQ(shared({{kReplica, 4}}), "{d0 = 4} on 0 1 2 3");
  EXPECT_EQ(shared({{kReplica, 3}}), "{replica = 3} on 0 1 2");
  EXPECT_EQ(shared({{kReplica, 5}}), "{replica = 5} on 0-4");
  EXPECT_EQ(shared({{kReplica, 16}}), "{replica = 2, d0 = 8} on ");
  EXPECT_EQ(shared({{0, 2}, {kReplica, 2}}), "{d0 = 2, d1 = 2} on 0 1 2");
  EXPECT_EQ(shared({{kReplica, 2}, {kReplica, 2}}),
            "{d0 = 2, d1 = 2} on 0 1 2");
  EXPECT_EQ(shared({{1, 3}}), "{d1 = 3} on 0 1 2");
}

} // namespace
