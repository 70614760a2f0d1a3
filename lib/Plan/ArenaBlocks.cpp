//===- ArenaBlocks.cpp - what lies in an arena for some time --------------===//

#include "ArenaBlocks.h"

#include <algorithm>

using namespace ffc::plan;

Blocks ffc::plan::blocksOf(const Graph &graph, const Strategy &strategy,
                           const DeviceProgram &device) {
  const std::vector<Lifetime> lifetimes = lifetimesOf(device);
  Blocks result;
  result.of.assign(device.buffers.size(), -1);
  // The operand that a buffer follows; one buffer follows an operand.
  std::vector<BufferId> before(device.buffers.size(), -1);
  std::vector<bool> taken(device.buffers.size());
  for (auto [buffer, operand] :
       overwritesOf(graph, strategy, device, lifetimes))
    if (before[buffer] < 0 && !taken[operand]) {
      taken[operand] = true;
      before[buffer] = operand;
    }
  std::vector<BufferId> arena;
  for (BufferId b = 0; b < static_cast<BufferId>(device.buffers.size()); ++b)
    if (device.buffers[b].section == Section::Arena &&
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
  return result;
}

int64_t PlacedBlocks::lowest(const Block &block, int64_t from) const {
  int64_t at = from;
  for (const Block &other : placed) {
    if (!block.life.overlaps(other.life))
      continue;
    if (at + block.bytes <= other.offset)
      break;
    at = std::max(at, aligned(other.offset + other.bytes));
  }
  return at;
}

void PlacedBlocks::add(const Block &block) {
  total = std::max(total, aligned(block.offset + block.bytes));
  placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                 [](const Block &x, const Block &y) {
                                   return x.offset < y.offset;
                                 }),
                block);
}

int64_t ffc::plan::sizeOf(const Block &block) { return block.bytes; }

int64_t ffc::plan::areaOf(const Block &block) {
  return block.bytes * (block.life.last - block.life.first + 1);
}

/// Places blocks in the order of descending weight, each at the lowest offset
/// that is free during its whole lifetime. Returns the bytes of all.
static int64_t place(std::vector<Block> &blocks,
                     int64_t weight(const Block &block)) {
  PlacedBlocks placed;
  std::vector<Block *> order;
  for (Block &block : blocks)
    if (block.fixed)
      placed.add(block);
    else
      order.push_back(&block);
  std::stable_sort(order.begin(), order.end(),
                   [&](Block *a, Block *b) { return weight(*a) > weight(*b); });
  for (Block *block : order) {
    block->offset = placed.lowest(*block, block->from);
    placed.add(*block);
  }
  return placed.bytes();
}

int64_t ffc::plan::placeBlocks(Blocks &blocks) {
  std::vector<Block> byArea = blocks.blocks;
  // Neither order is better for all models; the better one is seldom more than
  // a part in a thousand above the bytes that live at the same time.
  const int64_t bytes = place(blocks.blocks, sizeOf);
  const int64_t otherBytes = place(byArea, areaOf);
  if (otherBytes < bytes)
    blocks.blocks = std::move(byArea);
  return std::min(bytes, otherBytes);
}

void ffc::plan::storeOffsets(DeviceProgram &device, const Blocks &blocks) {
  device.stateBytes = 0;
  for (size_t b = 0; b < device.buffers.size(); ++b) {
    Buffer &buffer = device.buffers[b];
    if (buffer.section == Section::State) {
      buffer.offset = device.stateBytes;
      device.stateBytes += aligned(buffer.bytes);
    } else {
      buffer.offset = blocks.of[b] < 0 ? 0 : blocks.blocks[blocks.of[b]].offset;
    }
  }
}
