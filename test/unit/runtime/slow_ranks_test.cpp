//===- slow_ranks_test.cpp - which rank is slower than it should be -------===//
#include "common/program/slow_ranks.h"

#include <gtest/gtest.h>
#include <random>

using namespace ffrt;

namespace {

/// Times of ranks around these, with so much noise, in parts of them.
std::vector<double> times_of(const std::vector<double> &means, double noise,
                             unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<double> times;
  for (double mean : means)
    for (int step = 0; step < kWindow; ++step)
      times.push_back(mean *
                      (1 + noise * (double(random() % 2001) - 1000) / 1000));
  return times;
}

/// Who is named when it goes on like this.
SlowRanks::Found named(SlowRanks ranks, const std::vector<double> &times) {
  EXPECT_EQ(ranks.find(times.data()).rank, -1); // after one window
  return ranks.find(times.data());
}

TEST(SlowRanks, OneThatTakesTwiceAsLongIsNamedOnce) {
  SlowRanks ranks({1, 1, 1, 1});
  const std::vector<double> slow = times_of({1, 1, 2.2, 1}, 0.05),
                            even = times_of({1, 1, 1, 1}, 0.05);
  for (const auto *times : {&slow, &even, &slow})
    EXPECT_EQ(ranks.find(times->data()).rank, -1);
  const SlowRanks::Found found = ranks.find(slow.data());
  EXPECT_EQ(found.rank, 2);
  EXPECT_NEAR(found.seconds, 2.2, 0.2);
  EXPECT_NEAR(found.usual, 1, 0.1);
  EXPECT_EQ(ranks.find(slow.data()).rank, -1);
}

TEST(SlowRanks, ThePlanSaysWhatIsUsual) {
  // The last one has three times as much to do; all are slower than predicted.
  const SlowRanks ranks({1, 1, 3});
  EXPECT_EQ(named(ranks, times_of({10, 10, 30}, 0.05)).rank, -1);
  const SlowRanks::Found found = named(ranks, times_of({10, 20, 30}, 0.05));
  EXPECT_EQ(found.rank, 1);
  EXPECT_NEAR(found.usual, 10, 1);
  EXPECT_EQ(named(ranks, times_of({10, 10, 61}, 0)).rank, 2);
  EXPECT_EQ(named(SlowRanks({1, 1, 0}), times_of({1, 9, 1}, 0)).rank, -1);
  EXPECT_EQ(named(SlowRanks({1}), times_of({9}, 0)).rank, -1);
}

TEST(SlowRanks, BeyondTheSpreadOfOthers) {
  const SlowRanks three({1, 1, 1}), four({1, 1, 1, 1});
  EXPECT_EQ(named(three, times_of({1, 1, 1.4}, 0)).rank, -1);
  EXPECT_EQ(named(three, times_of({1, 1, 1.6}, 0)).rank, 2);
  EXPECT_EQ(named(three, times_of({1, 1, 2}, 0.9)).rank, -1);
  EXPECT_EQ(named(three, times_of({1, 2, 2}, 0.05)).rank, -1);
  for (unsigned seed = 0; seed < 300; ++seed)
    EXPECT_EQ(named(four, times_of({1, 1.1, 0.9, 1.2}, 0.3, seed)).rank, -1);
}

} // namespace
