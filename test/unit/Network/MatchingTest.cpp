//===- MatchingTest.cpp - matchings of most weight ------------------------===//

#include "ffc/Network/Matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

using namespace ffc::network;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

static Demand demandOf(int size, std::vector<double> values) {
  Demand demand(size);
  demand.values = std::move(values);
  return demand;
}

TEST(Matching, BothDirectionsOfAPairCount) {
  const Demand demand = demandOf(4, {0, 5, 1, 0, //
                                     0, 0, 0, 1, //
                                     4, 0, 0, 0, //
                                     0, 4, 0, 0});
  EXPECT_THAT(heaviestMatching(demand, {0, 1, 2, 3}, LinkKind::TwoWay),
              ElementsAre(Pair(0, 2), Pair(1, 3)));
}

TEST(Matching, OneOfAnOddNumberIsLeftOver) {
  Demand demand(5);
  demand.at(4, 1) = 3;
  demand.at(1, 3) = 2;
  EXPECT_THAT(heaviestMatching(demand, {1, 3, 4}, LinkKind::TwoWay),
              ElementsAre(Pair(1, 4)));
  EXPECT_THAT(heaviestMatching(demand, {1}, LinkKind::TwoWay), IsEmpty());
}

TEST(Matching, NothingToSendIsMatchedToo) {
  EXPECT_EQ(
      heaviestMatching(Demand(6), {0, 1, 2, 3, 4, 5}, LinkKind::TwoWay).size(),
      3u);
}

TEST(Matching, OneWayEverybodySendsAndReceives) {
  Demand demand(3);
  demand.at(0, 1) = demand.at(1, 0) = 2;
  demand.at(1, 2) = demand.at(2, 0) = 2;
  EXPECT_THAT(heaviestMatching(demand, {0, 1, 2}, LinkKind::OneWay),
              ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 0)));
}

TEST(Matching, DemandFallsFromRoundToRound) {
  Demand demand(4);
  demand.at(0, 1) = 10;
  demand.at(0, 2) = 4;
  auto partners = [&](DemandRule rule) {
    std::vector<int> found;
    for (const Pairs &pairs : matchingRounds(demand, 4, rule, LinkKind::TwoWay))
      found.push_back(pairs.front().second);
    return found;
  };
  // 10, 5, then 2.5; but 10, 5, 3.3.
  EXPECT_THAT(partners(DemandRule::Halved), ElementsAre(1, 1, 2, 1));
  demand.at(0, 2) = 3;
  EXPECT_THAT(partners(DemandRule::Halved), ElementsAre(1, 1, 2, 1));
  EXPECT_THAT(partners(DemandRule::Released), ElementsAre(1, 1, 1, 2));
}

// Every perfect matching of eight is tried.
static double heaviest(const Demand &demand, std::vector<int> left) {
  if (left.empty())
    return 0;
  const int first = left.back();
  left.pop_back();
  double best = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    std::vector<int> rest = left;
    rest.erase(rest.begin() + long(i));
    best =
        std::max(best, demand.at(first, left[i]) + demand.at(left[i], first) +
                           heaviest(demand, rest));
  }
  return best;
}

TEST(Matching, IsTheHeaviestOfAll) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    Demand demand(8);
    for (double &value : demand.values)
      value = random() % 1000;
    std::vector<int> all(8);
    std::iota(all.begin(), all.end(), 0);
    double weight = 0;
    for (auto [a, b] : heaviestMatching(demand, all, LinkKind::TwoWay))
      weight += demand.at(a, b) + demand.at(b, a);
    EXPECT_EQ(weight, heaviest(demand, all));
  }
}
