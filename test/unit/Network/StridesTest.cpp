//===- StridesTest.cpp - rings by strides ---------------------------------===//

#include "ffc/Network/Strides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ffc::network;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Strides, OfAGroupAreSpacedLikeIt) {
  EXPECT_THAT(ringStrides(12, 12), ElementsAre(1, 5, 7, 11));
  EXPECT_THAT(ringStrides(12, 4), ElementsAre(3, 9));
  EXPECT_THAT(ringStrides(12, 2), ElementsAre(6));
  EXPECT_THAT(ringStrides(12, 1), IsEmpty());
}

TEST(Strides, NearestOfTwoIsTheSmaller) {
  EXPECT_THAT(geometricStrides({1, 3, 5}, 16, 2), ElementsAre(1, 3));
}

TEST(Strides, ReleasedRuleMayFindNone) {
  EXPECT_EQ(releasedStrides({1, 5}, 3, LinkKind::TwoWay), std::nullopt);
  EXPECT_EQ(releasedStrides({1}, 1, LinkKind::OneWay), std::vector<int>{1});
}

TEST(Strides, FewCandidatesAreAllTaken) {
  EXPECT_THAT(bestStrides(12, 4, LinkKind::TwoWay, 1).strides,
              ElementsAre(1, 5));
  EXPECT_THAT(bestStrides(12, 8, LinkKind::OneWay, 1).strides,
              ElementsAre(1, 5, 7, 11));
  EXPECT_THAT(bestStrides(2, 3, LinkKind::TwoWay, 1).strides, ElementsAre(1));
  EXPECT_THAT(bestStrides(1, 3, LinkKind::TwoWay, 1).strides, IsEmpty());
}

// n = 64 and 128 in degree 4, where both rules are worse.
TEST(Strides, BestHaveTheLeastDiameter) {
  auto diameter = [](int servers) {
    const BestStrides best = bestStrides(servers, 2, LinkKind::TwoWay, 1);
    EXPECT_TRUE(best.exhaustive);
    return changeCoins(servers,
                       coinsOf(best.strides, servers, LinkKind::TwoWay))
        .diameter();
  };
  EXPECT_EQ(diameter(64), 6);
  EXPECT_EQ(diameter(128), 8);
}

TEST(Strides, DistancesThatNoCoinReaches) {
  const CoinChange change = changeCoins(6, {2, 4});
  EXPECT_THAT(change.hops, ElementsAre(0, -1, 1, -1, 1, -1));
  EXPECT_EQ(change.diameter(), -1);
}

TEST(Strides, TimeOfARing) {
  // 8 GiB, more than 32 bits; four servers send 3/2 of it each.
  EXPECT_EQ(ringTime(int64_t(8) << 30, 4, 1, 1e9, 0), 12'884'901'888'000);
  EXPECT_EQ(ringTime(1'000'000, 2, 2, 1e9, 1000), 500'000'000 + 2 * 1000);
  EXPECT_EQ(ringTime(1'000'000, 1, 2, 1e9, 1000), 0);
}
