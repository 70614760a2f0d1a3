//===- BlocksTest.cpp - what follows each other in all sequences ----------===//

#include "Blocks.h"

#include <gmock/gmock.h>

#include <random>

using namespace ffc::codegen;
using testing::ElementsAre;
using testing::IsEmpty;

using Sequence = std::vector<size_t>;

/// The sequences that blocks and their orders say.
static std::vector<Sequence> sequencesOf(const Blocks &blocks) {
  std::vector<Sequence> result;
  for (const Sequence &order : blocks.order) {
    Sequence &sequence = result.emplace_back();
    for (size_t block : order)
      for (size_t number : blocks.blocks[block])
        sequence.push_back(number);
  }
  return result;
}

TEST(Blocks, OfWhatAlwaysComesTogether) {
  const std::vector<Sequence> sequences = {{0, 1, 0, 1, 2, 3, 2, 3}, {2, 3}};
  const Blocks blocks = blocksOf(std::vector<bool>(4), sequences);
  EXPECT_THAT(blocks.blocks, ElementsAre(Sequence{0, 1}, Sequence{2, 3}));
  EXPECT_THAT(blocks.order, ElementsAre(Sequence{0, 0, 1, 1}, Sequence{1}));
}

TEST(Blocks, EndWhereSequencesDiffer) {
  const Blocks blocks =
      blocksOf(std::vector<bool>(3), {Sequence{0, 1, 2}, Sequence{1, 2, 0}});
  EXPECT_THAT(blocks.blocks, ElementsAre(Sequence{0}, Sequence{1, 2}));
}

TEST(Blocks, OfNothing) {
  const Blocks blocks = blocksOf({}, {Sequence{}});
  EXPECT_THAT(blocks.blocks, IsEmpty());
  EXPECT_THAT(blocks.order, ElementsAre(IsEmpty()));
}

TEST(Blocks, WhatIsMissingIsFilledIn) {
  // 2 stands before 1, but in the first turn, and at the end.
  const std::vector<Sequence> sequences = {{0, 1, 0, 2, 1, 0, 2, 1, 2}};
  const Blocks blocks = blocksOf({false, false, true}, sequences);
  EXPECT_THAT(blocks.blocks, ElementsAre(Sequence{0, 2, 1}, Sequence{2}));
  EXPECT_THAT(blocks.order, ElementsAre(Sequence{0, 0, 0, 1}));
  std::vector<std::ptrdiff_t> places;
  for (const Blocks::Item &item : blocks.filled[0])
    places.push_back(item.at);
  EXPECT_THAT(places, ElementsAre(0, -1, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(Blocks, WhatIsFilledInComesInOneOrder) {
  // Both orders before one number: one of both stands there twice.
  const std::vector<Sequence> sequences = {{0, 2, 3, 1}, {0, 3, 2, 1}};
  const Blocks blocks = blocksOf({false, false, true, true}, sequences);
  ASSERT_EQ(blocks.blocks.size(), 1u);
  EXPECT_EQ(blocks.blocks[0].size(), 5u);
}

/// Whatever the sequences, blocks say them, with what was filled in.
TEST(Blocks, SayTheSequences) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const size_t count = 1 + random() % 8;
    std::vector<bool> mayMiss;
    for (size_t number = 0; number < count; ++number)
      mayMiss.push_back(random() % 2 == 0);
    std::vector<Sequence> sequences(1 + random() % 3);
    for (Sequence &sequence : sequences)
      for (size_t i = random() % 20; i > 0; --i)
        sequence.push_back(random() % count);
    const Blocks blocks = blocksOf(mayMiss, sequences);
    const std::vector<Sequence> said = sequencesOf(blocks);
    for (size_t s = 0; s < sequences.size(); ++s) {
      Sequence numbers, there;
      for (const Blocks::Item &item : blocks.filled[s]) {
        numbers.push_back(item.number);
        if (item.at < 0) {
          EXPECT_TRUE(mayMiss[item.number]);
          continue;
        }
        EXPECT_EQ(static_cast<size_t>(item.at), there.size());
        there.push_back(item.number);
      }
      EXPECT_EQ(said[s], numbers);
      EXPECT_EQ(there, sequences[s]);
    }
  }
}
