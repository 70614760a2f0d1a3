//===- TrailsTest.cpp - what moves together, and what that finds ----------===//

#include "Trails.h"

#include "SearchFixture.h"
#include "ffc/Plan/StrategyFile.h"

#include <gmock/gmock.h>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;
using ::testing::ElementsAre;

namespace {

/// Two layers of one parameter; a product of the first one's result with that
/// of a third layer, and a product behind it.
TestGraph shared(int64_t k) {
  TestGraph g;
  ValueId w = g.state("w", {k, k}), v = g.state("v", {k, k});
  ValueId a = g.product("a", g.input("x", {64, k}), w);
  ValueId b = g.product("b", g.input("y", {64, k}), w);
  ValueId c = g.product("c", g.input("z", {k, k}), v);
  ValueId scores = g.product("scores", a, c);
  g.output("out/b", b);
  g.output("out/last", g.product("last", scores, c));
  return g;
}

OpId find(const Graph &graph, const std::string &name) {
  for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op)
    if (graph.op(op).name == name)
      return op;
  ADD_FAILURE() << "no operator " << name;
  return -1;
}

TEST(Trails, Sharing) {
  const TestGraph g = shared(32);
  const Space space(g.graph, 4);
  const Trails trails(space);
  const OpId a = find(g.graph, "a"), b = find(g.graph, "b"),
             c = find(g.graph, "c"), scores = find(g.graph, "scores");
  EXPECT_THAT(trails.sharing(a), ElementsAre(a, b));
  EXPECT_THAT(trails.sharing(b), ElementsAre(a, b));
  EXPECT_THAT(trails.sharing(c), ElementsAre(c));
  EXPECT_THAT(trails.sharing(scores), ElementsAre(scores));
}

/// What would follow takes over what a strategy file without its line gives it.
TEST(Trails, Behind) {
  const TestGraph g = shared(32);
  const Space space(g.graph, 4);
  const Trails trails(space);
  const OpId a = find(g.graph, "a"), scores = find(g.graph, "scores"),
             last = find(g.graph, "last");
  const Configuration config{{{0, 2}, {1, 2}}, {3, 1, 0, 2}};
  const auto behind = trails.behind(a, config);
  ASSERT_EQ(behind.size(), 2u);
  EXPECT_EQ(behind[0].first, scores);
  EXPECT_EQ(behind[1].first, last);
  PartialStrategy said(g.graph.ops.size());
  said[a] = config;
  const Strategy completed = completeStrategy(g.graph, said);
  for (const auto &[member, taken] : behind)
    EXPECT_EQ(taken, completed[member]);
  EXPECT_TRUE(trails.behind(find(g.graph, "b"), config).empty());
  EXPECT_TRUE(trails.behind(last, config).empty());
}

} // namespace
