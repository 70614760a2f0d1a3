//===- EarliestTest.cpp - which of many comes first -----------------------===//

#include "Earliest.h"

#include <gtest/gtest.h>

#include <random>

using namespace ffc::network;

TEST(EarliestTest, OfEqualTimesThatIsFirstWhichWasSetFirst) {
  Earliest earliest;
  EXPECT_EQ(earliest.time(), kNever);
  earliest.set(2, 5);
  earliest.set(0, 5);
  EXPECT_EQ(earliest.number(), 2u);
  earliest.set(2, 5); // anew
  EXPECT_EQ(earliest.number(), 0u);
  earliest.set(100, 5); // The tree grows.
  EXPECT_EQ(earliest.number(), 0u);
  earliest.set(0, kNever);
  EXPECT_EQ(earliest.number(), 2u);
  earliest.set(2, 6);
  EXPECT_EQ(earliest.number(), 100u);
}

TEST(EarliestTest, AgreesWithLookingAtAll) {
  std::mt19937 random(1);
  for (size_t count : {1, 2, 5, 64}) {
    Earliest earliest;
    std::vector<std::pair<Picoseconds, int>> times(count, {kNever, 0});
    for (int turn = 1; turn <= 1000; ++turn) {
      const size_t number = random() % count;
      times[number] = {random() % 8 == 0 ? kNever : random() % 20, turn};
      earliest.set(number, times[number].first);
      const auto least = std::min_element(times.begin(), times.end());
      ASSERT_EQ(earliest.time(), least->first);
      if (least->first != kNever) {
        ASSERT_EQ(earliest.number(),
                  static_cast<size_t>(least - times.begin()));
      }
    }
  }
}
