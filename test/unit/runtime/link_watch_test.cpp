//===- link_watch_test.cpp - links that are slower than they should be ----===//
#include "common/program/link_watch.h"
#include "thread_comm.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

constexpr int kRanks = 4;

/// Ranks 0 and 1 on host a, 2 and 3 on host b.
std::vector<RankPlace> two_hosts(const char *gpu = "") {
  std::vector<RankPlace> places(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    places[std::size_t(rank)].host = rank < 2 ? "a" : "b";
    places[std::size_t(rank)].machine = rank / 2;
    if (*gpu)
      places[std::size_t(rank)].gpu = gpu + std::to_string(rank);
  }
  return places;
}

/// Neighbours are predicted to be ten times as fast as others.
ProgramInfo all_pairs() {
  ProgramInfo info{};
  info.link_probes = {{1, 1 << 20, {{2, 1e-4}}},
                      {2, 1 << 20, {{1, 1e-3}, {1, 1e-3}}},
                      {3, 1 << 20, {{2, 1e-3}}}};
  return info;
}

/// Of one rank, which exchanges nothing.
class Watch {
public:
  explicit Watch(std::vector<RankPlace> places,
                 const ProgramInfo &info = all_pairs(), int64_t bytes = 2 << 20,
                 int ranks = kRanks)
      : places(std::move(places)), meeting(ranks), comm(0, meeting),
        links(comm, comm, info, this->places, {nullptr, bytes}) {}

  /// What is found when a window of this round takes the ranks so long.
  std::vector<std::string> window(const std::vector<double> &seconds) {
    std::vector<double> times;
    for (double each : seconds)
      times.insert(times.end(), kWindow, each);
    const auto found = links.find_slow(times.data());
    links.talked(/*seconds=*/0, /*since=*/1);
    return found;
  }

private:
  const std::vector<RankPlace> places;
  Meeting meeting;
  ThreadComm comm;

public:
  LinkWatch links;
};

TEST(LinkWatch, WhereThereIsNoLinkNothingIsWatched) {
  std::vector<RankPlace> one_host(kRanks);
  EXPECT_FALSE(Watch(one_host).links.any());
  EXPECT_TRUE(Watch(two_hosts()).links.any());
  // Without predictions, and in memory that is too small for them.
  EXPECT_FALSE(Watch(two_hosts(), ProgramInfo{}).links.any());
  EXPECT_FALSE(Watch(two_hosts(), all_pairs(), 1000).links.any());
  for (RankPlace &place : one_host)
    place.gpu = "GPU";
  EXPECT_TRUE(Watch(one_host).links.any());
}

TEST(LinkWatch, PairsOfTwoHostsAreComparedWithEachOther) {
  Watch watch(two_hosts());
  // The rounds are 0-2, 1-3 and 0-3, 1-2; the later of two ranks knows.
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(watch.window({1, 1, 9, 1}).empty());
    EXPECT_TRUE(watch.window({1, 1, 1, 1}).empty());
  }
  EXPECT_TRUE(watch.window({1, 1, 1, 1}).empty());
  EXPECT_TRUE(watch.window({1, 2, 2, 1}).empty());
  EXPECT_TRUE(watch.window({1, 1, 1, 1}).empty());
  EXPECT_EQ(watch.window({1, 2, 2, 1}),
            std::vector<std::string>{
                "ranks 1 (host a) and 2 (host b): messages of 1.05 MB take "
                "2e+03 ms where 1e+03 ms is usual, behind 20 steps and more; "
                "is a cable, port or switch between them faulty, or in use by "
                "others?"});
  EXPECT_TRUE(watch.window({1, 1, 1, 1}).empty());
  EXPECT_TRUE(watch.window({1, 2, 2, 1}).empty()); // has been said
}

TEST(LinkWatch, AsFastAsPredictedIsFastEnough) {
  Watch watch(two_hosts());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(watch.window({0.0003, 0.0003, 0.0003, 0.0003}).empty());
    EXPECT_TRUE(watch.window({0.0003, 0.0009, 0.0009, 0.0003}).empty());
  }
}

TEST(LinkWatch, LinksOfGpusOfOneHostAreWatched) {
  Watch watch(two_hosts("GPU-"));
  EXPECT_TRUE(watch.window({1, 1, 2, 2}).empty()); // 0-1 and 2-3
  EXPECT_TRUE(watch.window({1, 1, 1, 1}).empty());
  EXPECT_TRUE(watch.window({1, 1, 1, 1}).empty());
  EXPECT_EQ(watch.window({1, 1, 2, 2}).size(), 1u);
}

TEST(LinkWatch, OfManyPairsTheFirstAreNamed) {
  constexpr int kMany = 32;
  std::vector<RankPlace> places(kMany);
  for (RankPlace &place : places)
    place.gpu = "GPU";
  ProgramInfo info{};
  info.link_probes = {{16, 1 << 20, {{kMany / 2, 1e-4}}}};
  Watch watch(std::move(places), info, 2 << 20, kMany);
  std::vector<double> seconds(kMany, 1.0);
  for (std::size_t slow : {1, 3, 4, 6, 9, 14})
    seconds[slow] = seconds[slow + 16] = 2;
  EXPECT_TRUE(watch.window(seconds).empty());
  const std::vector<std::string> warnings = watch.window(seconds);
  ASSERT_EQ(warnings.size(), 5u);
  EXPECT_EQ(warnings[3].substr(0, 26), "ranks 6 (host ) and 22 (ho");
  EXPECT_EQ(warnings[4],
            "messages between 2 more pairs of ranks take as much longer");
}

TEST(LinkWatch, WhatTakesLongIsRarelyDone) {
  Watch watch(two_hosts());
  auto talks_until_due = [&](double seconds) {
    EXPECT_TRUE(watch.links.is_due());
    int talks = 0;
    do {
      watch.links.talked(seconds, /*since=*/1);
      ++talks;
    } while (!watch.links.is_due());
    return talks;
  };
  EXPECT_EQ(talks_until_due(0.001), 1);
  EXPECT_EQ(talks_until_due(0.051), 6); // 5 % of a talk
  // The first round has taken less before; the second has not.
  EXPECT_EQ(talks_until_due(0.2), 1);
  EXPECT_EQ(talks_until_due(0.101), 6);
  for (int i = 0; i < 3; ++i) {
    talks_until_due(0.101);
    talks_until_due(0.101);
  }
  EXPECT_EQ(talks_until_due(0.101), 11);
  EXPECT_EQ(talks_until_due(1e9), 11);
}

} // namespace
