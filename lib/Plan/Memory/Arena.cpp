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

/// Do they have as many bytes, of elements of one type?
static bool sameBytes(const Buffer &a, const Buffer &b) {
  return a.section == Section::Arena && b.section == Section::Arena &&
         a.bytes > 0 && a.bytes == b.bytes && a.type == b.type;
}

/// Is one sequence of elements the same tensor in both?
static bool sameSequence(const Buffer &a, const Buffer &b) {
  if (a.order != b.order)
    return false;
  if (a.order == MemoryOrder::RowMajor)
    return true;
  const Box x = a.region.box(), y = b.region.box();
  bool same = x.rank() == y.rank();
  for (int d = 0; same && d < x.rank(); ++d)
    same = x[d].size() == y[d].size();
  return same;
}

static bool sameMemory(const Buffer &a, const Buffer &b) {
  return sameBytes(a, b) && a.order == b.order && a.region == b.region;
}

/// By buffer: the last action that writes it, -1 if none does.
static std::vector<int> lastWritesOf(const DeviceProgram &device) {
  std::vector<int> last(device.buffers.size(), -1);
  for (size_t i = 0; i < device.actions.size(); ++i) {
    const Action &action = device.actions[i];
    auto write = [&](BufferId buffer) {
      if (buffer >= 0)
        last[buffer] = static_cast<int>(i);
    };
    for (BufferId buffer : action.outs)
      write(buffer);
    for (const Message &message : action.receives)
      write(message.buffer);
    write(action.dst);
    // Some collectives write what they read.
    if (action.kind == Action::Kind::Collective)
      write(action.src);
  }
  return last;
}

namespace {
/// What buffers share, in the making.
class Sharing {
public:
  Sharing(const Graph &graph, const Strategy &strategy,
          const DeviceProgram &device)
      : graph(graph), strategy(strategy), device(device),
        lifetimes(lifetimesOf(device)) {
    places.lifetimes = lifetimes;
    for (BufferId b = 0; b < static_cast<BufferId>(device.buffers.size()); ++b)
      places.base.push_back(b);
  }

  SharedPlaces run() {
    const std::vector<int> lastWrites = lastWritesOf(device);
    forKernels([&](int at, const Action &action, const OpRules &rules) {
      if (rules.keepsBytes)
        addView(at, action, lastWrites);
    });
    forKernels([&](int at, const Action &action, const OpRules &rules) {
      if (!rules.mayOverwrite.empty())
        addOverwrites(at, action, rules);
    });
    return std::move(places);
  }

private:
  template <class F> void forKernels(F &&f) {
    for (size_t i = 0; i < device.actions.size(); ++i)
      if (const Action &action = device.actions[i];
          action.kind == Action::Kind::Kernel)
        f(static_cast<int>(i), action, graph.op(action.task.op).rules);
  }

  /// The result of the kernel at index `at` is its operand, if both stay as
  /// they are from then on.
  void addView(int at, const Action &action,
               const std::vector<int> &lastWrites) {
    const BufferId in = action.ins[0], out = action.outs[0];
    if (in < 0 || out < 0)
      return;
    const Buffer &from = device.buffers[in], &to = device.buffers[out];
    if (!sameBytes(from, to) || !sameSequence(from, to) ||
        lifetimes[out].first != at || lastWrites[out] != at ||
        lastWrites[in] > at)
      return;
    const BufferId base = places.base[in];
    places.base[out] = base;
    Lifetime &life = places.lifetimes[base];
    life.last = std::max(life.last, lifetimes[out].last);
  }

  /// Adds what the kernel at index `at` allows.
  void addOverwrites(int at, const Action &action, const OpRules &rules) {
    const auto &allowed = rules.mayOverwrite;
    const Phase &phase =
        scheduleFor(rules, strategy[action.task.op]).phases[action.task.phase];
    const Op &op = graph.op(action.task.op);
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
        if (in < 0 || places.lifetimes[places.base[in]].last != at ||
            !sameMemory(device.buffers[in], device.buffers[out]))
          continue;
        // Bytes read in several slots must be allowed in all of them.
        bool fits = true;
        for (size_t other = 0; other < phase.reads.size(); ++other)
          if (BufferId also = action.ins[other];
              also >= 0 && places.base[also] == places.base[in])
            fits &= also == in && mayTake(result, phase.reads[other].slot);
        if (fits)
          places.overwrites.push_back({out, in});
      }
    }
  }

  const Graph &graph;
  const Strategy &strategy;
  const DeviceProgram &device;
  const std::vector<Lifetime> lifetimes;
  SharedPlaces places;
};
} // namespace

SharedPlaces ffc::plan::sharedPlacesOf(const Graph &graph,
                                       const Strategy &strategy,
                                       const DeviceProgram &device) {
  return Sharing(graph, strategy, device).run();
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
