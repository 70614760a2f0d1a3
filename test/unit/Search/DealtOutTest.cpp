//===- DealtOutTest.cpp - strategies in other orders of devices -----------===//

#include "DealtOut.h"
#include "SearchFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;
using namespace ffc::search::testing;
using ::testing::ElementsAre;

namespace {

/// Two layers of a tensor group, on two nodes of four.
class DealtOutTest : public ::testing::Test {
protected:
  Baseline on(const std::vector<DeviceId> &devices) {
    walker.propose({{space.anchors()[0], {{{1, 4}}, devices}, {}},
                    {space.anchors()[1], {{{2, 4}}, devices}, {}}});
    walker.accept();
    return {"group", walker.strategy(), qualityOf(walker, room)};
  }

  std::optional<Baseline> best(const Baseline &from) {
    return DealtOut(space, pinned, room, walker).best(from, [&] {
      return tries-- > 0;
    });
  }

  const Topology topology = load("p100-cluster:2");
  const CostModel cost{topology};
  const TestGraph g = layers(2048);
  const Space space{g.graph, 8};
  const std::vector<int64_t> room = std::vector<int64_t>(8, INT64_MAX);
  Walker walker{space, cost};
  std::vector<Choice> pinned;
  int tries = 1000;
};

/// Devices of two nodes, dealt out, are those of one.
TEST_F(DealtOutTest, PutsOnOneNodeWhatIsOnTwo) {
  const Baseline apart = on({0, 2, 4, 6});
  const std::optional<Baseline> found = best(apart);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "group, dealt out by 1 to each of 2");
  EXPECT_THAT(found->strategy[0].devices, ElementsAre(0, 1, 2, 3));
}

TEST_F(DealtOutTest, FindsNothingFaster) {
  EXPECT_FALSE(best(on({0, 1, 2, 3})));
}

TEST_F(DealtOutTest, LeavesPinsWhereTheyAre) {
  const Baseline apart = on({0, 2, 4, 6});
  pinned = {walker.choice(space.anchors()[0]),
            walker.choice(space.anchors()[1])};
  EXPECT_FALSE(best(apart));
}

TEST_F(DealtOutTest, EndsWhenItIsOver) {
  tries = 0;
  EXPECT_FALSE(best(on({0, 2, 4, 6})));
}

/// What is on all devices is the same in every order, but for who is whose
/// neighbour.
TEST_F(DealtOutTest, IsForPartsOfTheMachine) {
  const DealtOut dealtOut(space, pinned, room, walker);
  EXPECT_TRUE(dealtOut.isWorthwhile(on({0, 1, 2, 3})));
  EXPECT_FALSE(dealtOut.isWorthwhile(
      {"",
       Strategy(g.graph.ops.size(), {{{0, 8}}, {0, 1, 2, 3, 4, 5, 6, 7}}),
       {}}));
}

} // namespace
