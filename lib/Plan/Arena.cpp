//===- Arena.cpp - offsets for buffers by lifetime ------------------------===//

#include "ffc/Plan/Arena.h"

#include "ArenaBlocks.h"

#include <algorithm>

using namespace ffc::plan;

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

void ffc::plan::assignOffsets(const Graph &graph, const Strategy &strategy,
                              DeviceProgram &device) {
  Blocks arena = blocksOf(graph, strategy, device);
  device.arenaBytes = placeBlocks(arena.blocks);
  device.stateBytes = 0;
  for (BufferId b = 0; b < static_cast<BufferId>(device.buffers.size()); ++b) {
    Buffer &buffer = device.buffers[b];
    if (buffer.section == Section::State) {
      buffer.offset = device.stateBytes;
      device.stateBytes += aligned(buffer.bytes);
    } else {
      buffer.offset = arena.offsetOf(b);
    }
  }
}
