//===- outliers_test.cpp - what is slower than it should be --------------===//
#include "common/program/outliers.h"

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

Outliers of_one_kind(const std::vector<double> &predicted) {
  std::vector<Outliers::Expected> expected;
  for (double seconds : predicted)
    expected.push_back({seconds, 0});
  return Outliers(expected);
}

constexpr int kNone = -1, kSeveral = -2;

int number_of(const std::vector<Outliers::Found> &found) {
  return found.empty()      ? kNone
         : found.size() > 1 ? kSeveral
                            : int(found[0].number);
}

/// What is found when it goes on like this.
int found_in(Outliers things, const std::vector<double> &times) {
  EXPECT_EQ(number_of(things.find(times.data())), kNone); // after one window
  return number_of(things.find(times.data()));
}

TEST(Outliers, OneThatTakesTwiceAsLongIsFoundOnce) {
  Outliers things = of_one_kind({1, 1, 1, 1});
  const std::vector<double> slow = times_of({1, 1, 2.2, 1}, 0.05),
                            even = times_of({1, 1, 1, 1}, 0.05);
  for (const auto *times : {&slow, &even, &slow})
    EXPECT_TRUE(things.find(times->data()).empty());
  const std::vector<Outliers::Found> found = things.find(slow.data());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, 2u);
  EXPECT_NEAR(found[0].seconds, 2.2, 0.2);
  EXPECT_NEAR(found[0].usual, 1, 0.1);
  EXPECT_TRUE(things.find(slow.data()).empty());
}

TEST(Outliers, ThePlanSaysWhatIsUsual) {
  // The last one has three times as much to do; all are slower than predicted.
  const Outliers things = of_one_kind({1, 1, 3});
  EXPECT_EQ(found_in(things, times_of({10, 10, 30}, 0.05)), kNone);
  EXPECT_EQ(found_in(things, times_of({10, 20, 30}, 0.05)), 1);
  EXPECT_EQ(found_in(things, times_of({10, 10, 61}, 0)), 2);
  EXPECT_EQ(found_in(of_one_kind({1, 1, 0}), times_of({1, 9, 1}, 0)), kNone);
}

TEST(Outliers, BeyondTheSpreadOfOthers) {
  const Outliers three = of_one_kind({1, 1, 1}),
                 four = of_one_kind({1, 1, 1, 1});
  EXPECT_EQ(found_in(three, times_of({1, 1, 1.4}, 0)), kNone);
  EXPECT_EQ(found_in(three, times_of({1, 1, 1.6}, 0)), 2);
  EXPECT_EQ(found_in(three, times_of({1, 1, 2}, 0.9)), kNone);
  EXPECT_EQ(found_in(three, times_of({1, 2, 2}, 0.05)), kNone);
  EXPECT_EQ(found_in(four, times_of({2, 1, 2, 1}, 0.05)), kNone);
  EXPECT_EQ(
      found_in(of_one_kind({1, 1, 1, 1, 1}), times_of({1, 2, 1, 2, 1}, 0.05)),
      kSeveral);
  for (unsigned seed = 0; seed < 300; ++seed)
    EXPECT_EQ(found_in(four, times_of({1, 1.1, 0.9, 1.2}, 0.3, seed)), kNone);
}

TEST(Outliers, OfTwoEachIsComparedWithTheOther) {
  const Outliers two = of_one_kind({1, 2});
  EXPECT_EQ(found_in(two, times_of({1, 2.8}, 0.05)), kNone);
  EXPECT_EQ(found_in(two, times_of({1, 3.5}, 0.05)), 1);
  EXPECT_EQ(found_in(two, times_of({1, 1}, 0.05)), 0);
}

TEST(Outliers, KindsAreNotComparedWithEachOther) {
  // Of the second kind predictions are wrong by five, of the first by one.
  Outliers things({{1, 0}, {1, 1}, {1, 0}, {1, 1}, {1, 0}, {1, 1}});
  EXPECT_EQ(found_in(things, times_of({1, 5, 1, 5, 1, 5}, 0.05)), kNone);
  EXPECT_EQ(found_in(things, times_of({1, 5, 1, 9, 1, 5}, 0.05)), 3);
  EXPECT_EQ(found_in(things, times_of({1, 5, 3, 5, 1, 5}, 0.05)), 2);
}

TEST(Outliers, OneAloneIsComparedWithItsFirstWindows) {
  const std::vector<double> even = times_of({4}, 0.1),
                            slower = times_of({7}, 0.1),
                            slow = times_of({9}, 0.1);
  Outliers one = of_one_kind({1});
  // However slow it is: nobody knows that it could be faster.
  for (const auto *times : {&even, &even, &even, &slower, &slower, &slow})
    EXPECT_TRUE(one.find(times->data()).empty());
  const std::vector<Outliers::Found> found = one.find(slow.data());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].usual, 4, 0.3);
}

TEST(Outliers, NothingIsSlowUpToALimit) {
  const Outliers things({{1, 0, 3}, {1, 0, 3}, {1, 0, 3}});
  EXPECT_EQ(found_in(things, times_of({1, 1, 2.8}, 0.02)), kNone);
  EXPECT_EQ(found_in(things, times_of({1, 1, 3.2}, 0.02)), 2);
}

TEST(Outliers, SomeHaveNewTimesOthersTheirLast) {
  Outliers things = of_one_kind({1, 1, 1, 1});
  const std::vector<double> even = times_of({1, 1}, 0.05),
                            slow = times_of({1, 2}, 0.05);
  EXPECT_TRUE(things.find(even.data(), 0, 2).empty());
  EXPECT_TRUE(things.find(slow.data(), 2, 2).empty());
  EXPECT_TRUE(things.find(even.data(), 0, 2).empty());
  EXPECT_EQ(number_of(things.find(slow.data(), 2, 2)), 3);
}

} // namespace
