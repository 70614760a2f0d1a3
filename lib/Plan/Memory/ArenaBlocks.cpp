//===- ArenaBlocks.cpp - what takes bytes of an arena, and when -----------===//

#include "ArenaBlocks.h"

#include <algorithm>

using namespace ffc::plan;

Blocks ffc::plan::blocksOf(const Graph &graph, const Strategy &strategy,
                           const DeviceProgram &device) {
  const SharedPlaces places = sharedPlacesOf(graph, strategy, device);
  const std::vector<Lifetime> &lifetimes = places.lifetimes;
  Blocks result;
  result.of.assign(device.buffers.size(), -1);
  // The operand that a buffer follows; one buffer follows an operand.
  std::vector<BufferId> before(device.buffers.size(), -1);
  std::vector<bool> taken(device.buffers.size());
  for (auto [buffer, operand] : places.overwrites) {
    const BufferId base = places.base[operand];
    if (before[buffer] < 0 && !taken[base]) {
      taken[base] = true;
      before[buffer] = base;
    }
  }
  std::vector<BufferId> arena;
  for (BufferId b = 0; b < static_cast<BufferId>(device.buffers.size()); ++b)
    if (places.base[b] == b && device.buffers[b].section == Section::Arena &&
        device.buffers[b].bytes > 0 && lifetimes[b].last >= lifetimes[b].first)
      arena.push_back(b);
  // Operands come before what follows them.
  std::stable_sort(arena.begin(), arena.end(), [&](BufferId a, BufferId b) {
    return lifetimes[a].first < lifetimes[b].first;
  });
  for (BufferId b : arena) {
    if (before[b] >= 0) {
      result.of[b] = result.of[before[b]];
      result.blocks[result.of[b]].life.last = lifetimes[b].last;
      continue;
    }
    result.of[b] = static_cast<int>(result.blocks.size());
    result.blocks.push_back({device.buffers[b].bytes, lifetimes[b]});
  }
  for (size_t b = 0; b < places.base.size(); ++b)
    result.of[b] = result.of[places.base[b]];
  return result;
}

/// Places blocks in the order of descending weight, each at the lowest offset
/// that is free during its whole lifetime.
static int64_t place(std::vector<Block> &blocks, int64_t symmetric,
                     int64_t weight(const Block &block)) {
  std::vector<Block *> order, placed; // the latter by offset
  for (Block &block : blocks)
    (block.offset < 0 ? order : placed).push_back(&block);
  auto isLower = [](const Block *x, const Block *y) {
    return x->offset < y->offset;
  };
  std::stable_sort(placed.begin(), placed.end(), isLower);
  std::stable_sort(order.begin(), order.end(),
                   [&](Block *a, Block *b) { return weight(*a) > weight(*b); });
  int64_t total = symmetric;
  for (Block *block : order) {
    int64_t at = 0;
    auto raise = [&](int64_t to) {
      at = std::max(at, to);
      if (at < symmetric && at + block->bytes > symmetric)
        at = symmetric;
    };
    raise(block->apart ? symmetric : 0);
    for (const Block *other : placed) {
      if (!block->life.overlaps(other->life))
        continue;
      if (at + block->bytes <= other->offset)
        break;
      raise(aligned(other->offset + other->bytes));
    }
    block->offset = at;
    total = std::max(total, aligned(at + block->bytes));
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), block, isLower), block);
  }
  return total;
}

static int64_t sizeOf(const Block &block) { return block.bytes; }

int64_t ffc::plan::placeBlocks(std::vector<Block> &blocks, int64_t symmetric) {
  // Neither order is better for all models; the better one is seldom more than
  // a part in a thousand above the bytes that live at the same time.
  std::vector<Block> byArea = blocks;
  const int64_t bytes = place(blocks, symmetric, sizeOf);
  const int64_t otherBytes = place(byArea, symmetric, areaOf);
  if (otherBytes < bytes)
    blocks = std::move(byArea);
  return std::min(bytes, otherBytes);
}
