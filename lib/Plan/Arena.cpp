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

void ffc::plan::assignOffsets(DeviceProgram &device) {
  std::vector<Lifetime> lifetimes = lifetimesOf(device);
  std::vector<BufferId> arena;
  device.stateBytes = device.arenaBytes = 0;
  for (BufferId b = 0; b < static_cast<BufferId>(device.buffers.size()); ++b) {
    Buffer &buffer = device.buffers[b];
    if (buffer.section == Section::State) {
      buffer.offset = device.stateBytes;
      device.stateBytes += aligned(buffer.bytes);
    } else {
      buffer.offset = 0;
      if (buffer.bytes > 0 && lifetimes[b].last >= lifetimes[b].first)
        arena.push_back(b);
    }
  }
  // Greedy by size: large buffers first, each at the lowest offset that is free
  // during its whole lifetime.
  std::stable_sort(arena.begin(), arena.end(), [&](BufferId a, BufferId b) {
    return device.buffers[a].bytes > device.buffers[b].bytes;
  });
  std::vector<BufferId> placed; // by offset
  for (BufferId b : arena) {
    Buffer &buffer = device.buffers[b];
    int64_t at = 0;
    for (BufferId other : placed) {
      const Buffer &o = device.buffers[other];
      if (!lifetimes[b].overlaps(lifetimes[other]))
        continue;
      if (at + buffer.bytes <= o.offset)
        break;
      at = std::max(at, aligned(o.offset + o.bytes));
    }
    buffer.offset = at;
    device.arenaBytes = std::max(device.arenaBytes, aligned(at + buffer.bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), b,
                                   [&](BufferId x, BufferId y) {
                                     return device.buffers[x].offset <
                                            device.buffers[y].offset;
                                   }),
                  b);
  }
}
