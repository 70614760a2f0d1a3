//===- BufferContentsTest.cpp - what the bytes of a buffer stand for ------===//

#include "Verify/BufferContents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace ffc::plan;

static Box boxOf(std::initializer_list<Interval> dims) {
  Box box(static_cast<int>(dims.size()));
  int d = 0;
  for (const Interval &dim : dims)
    box[d++] = dim;
  return box;
}

TEST(BufferContents, PartsAreSetsOfNumbers) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::set<int64_t> numbers;
    Parts parts;
    for (int i = 0; i < 40; ++i) {
      const int64_t number = static_cast<int64_t>(random() % 32);
      EXPECT_EQ(parts.add(Parts(number)), numbers.insert(number).second);
      EXPECT_EQ(parts.count(), static_cast<int64_t>(numbers.size()));
    }
  }
}

TEST(BufferContents, PartsInAnyOrderAreTheSame) {
  std::vector<int64_t> numbers(100);
  for (int64_t i = 0; i < 100; ++i)
    numbers[i] = i;
  Parts ascending, other;
  for (int64_t number : numbers)
    EXPECT_TRUE(ascending.add(Parts(number)));
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(2));
  for (int64_t number : numbers)
    EXPECT_TRUE(other.add(Parts(number)));
  EXPECT_EQ(ascending, other);
  EXPECT_FALSE(other.add(ascending));
  EXPECT_EQ(other.count(), 100);
}

/// Blocks that follow each other are one piece, whatever was there before, so
/// that a gather of thousands is no list of thousands.
TEST(BufferContents, BlocksOfAGatherAreOnePiece) {
  const Origin old{1, Parts(0), 1}, value{2, Parts(0), 1};
  Contents contents;
  contents.write(boxOf({{0, 1000}, {0, 3}}), old);
  for (int64_t i = 0; i < 1000; ++i)
    contents.write(boxOf({{i, i + 1}, {0, 3}}), value);
  ASSERT_EQ(contents.pieces().size(), 1u);
  EXPECT_EQ(contents.pieces()[0].box, boxOf({{0, 1000}, {0, 3}}));
  EXPECT_EQ(contents.pieces()[0].origin, value);
}

TEST(BufferContents, OthersStayApart) {
  const Origin first{2, Parts(0), 2}, second{2, Parts(1), 2};
  Contents contents;
  contents.write(boxOf({{0, 2}, {0, 2}}), first);
  contents.write(boxOf({{2, 4}, {0, 2}}), second); // another part of the sum
  contents.write(boxOf({{4, 6}, {0, 3}}), second); // wider
  EXPECT_EQ(contents.pieces().size(), 3u);
  EXPECT_TRUE(contents.covers(boxOf({{0, 6}, {0, 2}})));
  EXPECT_FALSE(contents.covers(boxOf({{0, 6}, {0, 3}})));
  EXPECT_FALSE(contents.combine(boxOf({{0, 4}, {0, 2}}), first));
  EXPECT_TRUE(contents.combine(boxOf({{2, 6}, {0, 2}}), first));
}
