//===- Arena.cpp - offsets for buffers by lifetime ------------------------===//

#include "ffc/Plan/Arena.h"

#include <algorithm>

using namespace ffc::plan;

static int64_t aligned(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

std::vector<Lifetime> ffc::plan::lifetimesOf(const DeviceProgram &device) {
  std::vector<Lifetime> lifetimes(device.buffers.size());
  auto touch = [&](BufferId buffer, int at) {
    if (buffer < 0)
      return;
    Lifetime &life = lifetimes[buffer];
    if (life.last < life.first)
      life = {at, at};
    life.first = std::min(life.first, at);
    life.last = std::max(life.last, at);
  };
  auto touchAll = [&](const Action &action, int at) {
    for (BufferId buffer : action.ins)
      touch(buffer, at);
    for (BufferId buffer : action.outs)
      touch(buffer, at);
    for (const Message &message : action.sends)
      touch(message.buffer, at);
    for (const Message &message : action.receives)
      touch(message.buffer, at);
    touch(action.src, at);
    touch(action.dst, at);
  };
  for (const InputSlot &slot : device.inputs)
    touch(slot.buffer, -1);
  int end = static_cast<int>(device.actions.size());
  for (int i = 0; i < end; ++i) {
    const Action &action = device.actions[i];
    touchAll(action, i);
    if (action.kind == Action::Kind::Wait)
      touchAll(device.actions[action.event], i);
  }
  touch(device.loss, end);
  return lifetimes;
}

//===----------------------------------------------------------------------===//
// Results in place of operands
//===----------------------------------------------------------------------===//

static bool sameMemory(const Buffer &a, const Buffer &b) {
  return a.section == Section::Arena && b.section == Section::Arena &&
         a.bytes > 0 && a.bytes == b.bytes && a.type == b.type &&
         a.order == b.order && a.region == b.region;
}

/// Adds what the kernel at index `at` allows.
static void addOverwrites(const Graph &graph, const Strategy &strategy,
                          const DeviceProgram &device,
                          const std::vector<Lifetime> &lifetimes, int at,
                          std::vector<Overwrite> &overwrites) {
  const Action &action = device.actions[at];
  const Op &op = graph.op(action.task.op);
  const auto &allowed = op.rules.mayOverwrite;
  if (allowed.empty())
    return;
  const Phase &phase =
      scheduleFor(op.rules, strategy[action.task.op]).phases[action.task.phase];
  auto mayTake = [&](int result, int operand) {
    return std::find(allowed.begin(), allowed.end(),
                     std::make_pair(result, operand)) != allowed.end();
  };
  for (size_t w = 0; w < phase.writes.size(); ++w) {
    BufferId out = action.outs[w];
    if (out < 0 || lifetimes[out].first != at)
      continue;
    int result = phase.writes[w].slot - static_cast<int>(op.operands.size());
    for (size_t r = 0; r < phase.reads.size(); ++r) {
      BufferId in = action.ins[r];
      if (in < 0 || lifetimes[in].last != at ||
          !sameMemory(device.buffers[in], device.buffers[out]))
        continue;
      // A buffer read in several slots must be allowed in all of them.
      bool fits = true;
      for (size_t other = 0; other < phase.reads.size(); ++other)
        fits &=
            action.ins[other] != in || mayTake(result, phase.reads[other].slot);
      if (fits)
        overwrites.push_back({out, in});
    }
  }
}

std::vector<Overwrite>
ffc::plan::overwritesOf(const Graph &graph, const Strategy &strategy,
                        const DeviceProgram &device,
                        const std::vector<Lifetime> &lifetimes) {
  std::vector<Overwrite> overwrites;
  for (size_t i = 0; i < device.actions.size(); ++i)
    if (device.actions[i].kind == Action::Kind::Kernel)
      addOverwrites(graph, strategy, device, lifetimes, static_cast<int>(i),
                    overwrites);
  return overwrites;
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

namespace {

/// Bytes in use for some time: a buffer, or several that follow one another in
/// one place.
struct Block {
  int64_t bytes = 0;
  Lifetime life;
  int64_t offset = 0;
};

struct Blocks {
  std::vector<Block> blocks;
  std::vector<int> of; ///< the block of each buffer; -1: none
};

} // namespace

/// Results lie in place of operands where they may.
static Blocks blocksOf(const DeviceProgram &device,
                       const std::vector<Lifetime> &lifetimes,
                       const std::vector<Overwrite> &overwrites) {
  Blocks result;
  result.of.assign(device.buffers.size(), -1);
  // The operand that a buffer follows; one buffer follows an operand.
  std::vector<BufferId> before(device.buffers.size(), -1);
  std::vector<bool> taken(device.buffers.size());
  for (auto [buffer, operand] : overwrites)
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

/// Places blocks in the order of descending weight, each at the lowest offset
/// that is free during its whole lifetime. Returns the bytes of all.
static int64_t place(std::vector<Block> &blocks,
                     int64_t weight(const Block &block)) {
  std::vector<Block *> order, placed; // the latter by offset
  for (Block &block : blocks)
    order.push_back(&block);
  std::stable_sort(order.begin(), order.end(),
                   [&](Block *a, Block *b) { return weight(*a) > weight(*b); });
  int64_t total = 0;
  for (Block *block : order) {
    int64_t at = 0;
    for (const Block *other : placed) {
      if (!block->life.overlaps(other->life))
        continue;
      if (at + block->bytes <= other->offset)
        break;
      at = std::max(at, aligned(other->offset + other->bytes));
    }
    block->offset = at;
    total = std::max(total, aligned(at + block->bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                   [](const Block *x, const Block *y) {
                                     return x->offset < y->offset;
                                   }),
                  block);
  }
  return total;
}

static int64_t sizeOf(const Block &block) { return block.bytes; }

/// Bytes times actions.
static int64_t areaOf(const Block &block) {
  return block.bytes * (block.life.last - block.life.first + 1);
}

void ffc::plan::assignOffsets(const Graph &graph, const Strategy &strategy,
                              DeviceProgram &device) {
  std::vector<Lifetime> lifetimes = lifetimesOf(device);
  Blocks bySize = blocksOf(device, lifetimes,
                           overwritesOf(graph, strategy, device, lifetimes));
  Blocks byArea = bySize;
  // Neither order is better for all models; the better one is seldom more than
  // a part in a thousand above the bytes that live at the same time.
  int64_t bytes = place(bySize.blocks, sizeOf);
  int64_t otherBytes = place(byArea.blocks, areaOf);
  const Blocks &best = otherBytes < bytes ? byArea : bySize;
  device.arenaBytes = std::min(bytes, otherBytes);
  device.stateBytes = 0;
  for (size_t b = 0; b < device.buffers.size(); ++b) {
    Buffer &buffer = device.buffers[b];
    if (buffer.section == Section::State) {
      buffer.offset = device.stateBytes;
      device.stateBytes += aligned(buffer.bytes);
    } else {
      buffer.offset = best.of[b] < 0 ? 0 : best.blocks[best.of[b]].offset;
    }
  }
}
