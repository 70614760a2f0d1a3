//===- ArenaBlocksTest.cpp - places of what lives for some time -----------===//

#include "Memory/ArenaBlocks.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace ffc::plan;

namespace {

/// The lowest offset at which a block fits, found by trying all that may be
/// it: 0, `symmetric`, and where others end.
int64_t lowestFit(const Block &block, const std::vector<Block> &placed,
                  int64_t symmetric) {
  std::vector<int64_t> offsets = {0, symmetric};
  for (const Block &other : placed)
    offsets.push_back(aligned(other.offset + other.bytes));
  std::sort(offsets.begin(), offsets.end());
  for (int64_t at : offsets) {
    const bool isAcross = at < symmetric && at + block.bytes > symmetric;
    if (isAcross || (block.apart && at < symmetric))
      continue;
    if (std::none_of(placed.begin(), placed.end(), [&](const Block &other) {
          return block.life.overlaps(other.life) &&
                 at < aligned(other.offset + other.bytes) &&
                 other.offset < at + block.bytes;
        }))
      return at;
  }
  return -1;
}

/// What placeBlocks() gives a place to, in the order of descending weight.
int64_t placeOneByOne(std::vector<Block> &blocks, int64_t symmetric,
                      int64_t weight(const Block &block)) {
  std::vector<Block *> order;
  std::vector<Block> placed;
  for (Block &block : blocks)
    if (block.offset < 0)
      order.push_back(&block);
    else
      placed.push_back(block);
  std::stable_sort(order.begin(), order.end(),
                   [&](Block *a, Block *b) { return weight(*a) > weight(*b); });
  int64_t total = symmetric;
  for (Block *block : order) {
    block->offset = lowestFit(*block, placed, symmetric);
    placed.push_back(*block);
    total = std::max(total, aligned(block->offset + block->bytes));
  }
  return total;
}

TEST(ArenaBlocks, LowestOffsets) {
  std::mt19937 random(1);
  auto below = [&](int n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    const int64_t symmetric = below(2) * kBufferAlignment * below(20);
    std::vector<Block> blocks(1 + below(40));
    for (Block &block : blocks) {
      block.bytes = 1 + below(2000);
      block.life.first = below(30) - 1;
      block.life.last = block.life.first + below(30);
      block.apart = below(4) == 0;
      if (below(8) == 0)
        block.offset = kBufferAlignment * below(10);
    }
    std::vector<Block> bySize = blocks, byArea = blocks;
    const int64_t least =
        std::min(placeOneByOne(bySize, symmetric,
                               [](const Block &block) { return block.bytes; }),
                 placeOneByOne(byArea, symmetric, areaOf));
    EXPECT_EQ(placeBlocks(blocks, symmetric), least) << round;
    EXPECT_TRUE(blocks == bySize || blocks == byArea) << round;
  }
}

// Every block lives while those made after it do, as activations of a training
// step: each meets all others.
TEST(ArenaBlocks, ManyNestedLives) {
  constexpr int kBlocks = 100'000;
  std::vector<Block> blocks(kBlocks);
  for (int b = 0; b < kBlocks; ++b)
    blocks[b] = {kBufferAlignment, {b, 2 * kBlocks - b}, -1, false};
  EXPECT_EQ(placeBlocks(blocks), kBlocks * kBufferAlignment);
}

} // namespace
