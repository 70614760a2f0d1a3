//===- FairSharesTest.cpp - are rates max-min fair? -----------------------===//

#include "FairShares.h"

#include <gtest/gtest.h>

#include <random>

using namespace ffc::network;

namespace {

TEST(FairShares, GivesWhatASlowLinkLeavesToOthers) {
  FairShares shares({10, 4});
  const StreamId both = shares.addStream({{0, 1}, {1, 1}});
  const StreamId first = shares.addStream({{0, 1}});
  shares.addFlows(both, 2);
  shares.addFlows(first, 1);
  shares.update();
  EXPECT_DOUBLE_EQ(shares.rate(both), 2);
  EXPECT_DOUBLE_EQ(shares.rate(first), 6);

  shares.addFlows(both, -1);
  shares.update();
  EXPECT_DOUBLE_EQ(shares.rate(both), 4);
  EXPECT_DOUBLE_EQ(shares.rate(first), 6);

  shares.addFlows(both, -1);
  shares.update();
  EXPECT_DOUBLE_EQ(shares.rate(both), 0);
  EXPECT_DOUBLE_EQ(shares.rate(first), 10);
}

TEST(FairShares, APartOfAFlowCountsAsMuchAsItIs) {
  FairShares shares({3, 3});
  const StreamId split = shares.addStream({{0, 0.5}, {1, 0.5}});
  const StreamId whole = shares.addStream({{0, 1}});
  shares.addFlows(split, 1);
  shares.addFlows(whole, 1);
  shares.update();
  EXPECT_DOUBLE_EQ(shares.rate(split), 2);
  EXPECT_DOUBLE_EQ(shares.rate(whole), 2);
}

TEST(FairShares, ListsOnlyWhatChanged) {
  FairShares shares({10, 10});
  const StreamId left = shares.addStream({{0, 1}});
  const StreamId right = shares.addStream({{1, 1}});
  shares.addFlows(left, 1);
  shares.addFlows(right, 1);
  EXPECT_EQ(shares.update().size(), 2u);
  shares.addFlows(left, 1);
  EXPECT_EQ(shares.update(), std::vector<StreamId>{left});
  // As many have come as gone.
  shares.addFlows(left, 1);
  shares.addFlows(left, -1);
  EXPECT_TRUE(shares.update().empty());
}

/// Rates are max-min fair if each stream has a full link on which no stream is
/// faster, and no link carries more than it can.
struct RandomNetwork {
  static constexpr int kLinks = 8, kStreams = 20;

  std::mt19937 random;
  std::vector<double> capacities;
  std::vector<std::vector<FairShares::Crossed>> streams;

  explicit RandomNetwork(unsigned seed) : random(seed) {
    for (int l = 0; l < kLinks; ++l)
      capacities.push_back(1.0 + random() % 9);
    for (int s = 0; s < kStreams; ++s) {
      std::vector<FairShares::Crossed> &stream = streams.emplace_back();
      for (int l = 0; l < kLinks; ++l)
        if (random() % 3 == 0)
          stream.push_back({l, random() % 4 == 0 ? 0.5 : 1.0});
      if (stream.empty())
        stream.push_back({s % kLinks, 1});
    }
  }

  void expectFair(const FairShares &shares) const {
    std::vector<double> carried(kLinks), fastest(kLinks);
    for (int s = 0; s < kStreams; ++s)
      for (const FairShares::Crossed &crossed : streams[s]) {
        carried[crossed.link] += static_cast<double>(shares.flows(s)) *
                                 crossed.part * shares.rate(s);
        fastest[crossed.link] = std::max(fastest[crossed.link], shares.rate(s));
      }
    for (int l = 0; l < kLinks; ++l)
      EXPECT_LE(carried[l], capacities[l] * (1 + 1e-9));
    for (int s = 0; s < kStreams; ++s) {
      bool limited = shares.flows(s) == 0;
      for (const FairShares::Crossed &crossed : streams[s])
        limited |=
            carried[crossed.link] > capacities[crossed.link] * (1 - 1e-9) &&
            shares.rate(s) > fastest[crossed.link] * (1 - 1e-9);
      EXPECT_TRUE(limited) << "stream " << s;
    }
  }
};

TEST(FairShares, StayFairWhateverComesAndGoes) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    RandomNetwork network(seed);
    FairShares shares(network.capacities);
    for (const auto &stream : network.streams)
      shares.addStream(stream);
    for (int step = 0; step < 40; ++step) {
      for (int change = 0; change < 3; ++change) {
        const StreamId s =
            static_cast<StreamId>(network.random() % network.streams.size());
        if (shares.flows(s) > 0 && network.random() % 2 == 0)
          shares.addFlows(s, -1);
        else
          shares.addFlows(s, 1 + network.random() % 3);
      }
      shares.update();
      network.expectFair(shares);
    }
  }
}

} // namespace
