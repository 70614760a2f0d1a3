//===- Arena.cpp - offsets for buffers by lifetime ------------------------===//

#include "ffc/Plan/Arena.h"

#include "ArenaBlocks.h"

#include <algorithm>

using namespace ffc::plan;

/// Calls `touch` with every buffer that an action has, and whether it may write
/// it.
template <class Touch>
static void forBuffers(const Action &action, Touch touch) {
  auto touchAll = [&](const std::vector<BufferId> &buffers, bool isWritten) {
    for (BufferId buffer : buffers)
      if (buffer >= 0)
        touch(buffer, isWritten);
  };
  action.visit(
      [&](const KernelAction &kernel) {
        touchAll(kernel.ins, false);
        touchAll(kernel.outs, true);
      },
      [&](const CopyAction &copy) {
        touch(copy.src, false);
        touch(copy.dst, true);
      },
      [&](const ExchangeAction &exchange) {
        for (const Message &message : exchange.sends)
          touch(message.buffer, false);
        for (const Message &message : exchange.receives)
          touch(message.buffer, true);
      },
      [&](const CollectiveAction &collective) {
        // Some write what they read.
        touch(collective.src, true);
        touch(collective.dst, true);
      },
      [&](const WaitAction &) {},
      [&](const ProbeAction &probe) { touch(probe.buffer, false); });
}

std::vector<Lifetime> ffc::plan::lifetimesOf(const DeviceProgram &device) {
  std::vector<Lifetime> lifetimes(device.buffers.size());
  auto touch = [&](BufferId buffer, int at) {
    Lifetime &life = lifetimes[buffer];
    if (life.last < life.first)
      life = {at, at};
    life.first = std::min(life.first, at);
    life.last = std::max(life.last, at);
  };
  for (const InputSlot &slot : device.inputs)
    touch(slot.buffer, -1);
  int end = static_cast<int>(device.actions.size());
  for (int i = 0; i < end; ++i) {
    const auto *wait = device.actions[i].as<WaitAction>();
    forBuffers(device.actions[wait ? wait->event : i],
               [&](BufferId buffer, bool) { touch(buffer, i); });
  }
  if (device.loss >= 0)
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
  if (a.order == MemoryOrder::Pitched)
    return a.region.shape().back() == b.region.shape().back();
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
  for (size_t i = 0; i < device.actions.size(); ++i)
    forBuffers(device.actions[i], [&](BufferId buffer, bool isWritten) {
      if (isWritten)
        last[buffer] = static_cast<int>(i);
    });
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
    forKernels([&](int at, const TaskId &task, const KernelAction &kernel) {
      if (graph.op(task.op).rules.keepsBytes)
        addView(at, kernel, lastWrites);
    });
    forKernels([&](int at, const TaskId &task, const KernelAction &kernel) {
      if (!graph.op(task.op).rules.mayOverwrite.empty())
        addOverwrites(at, task, kernel);
    });
    return std::move(places);
  }

private:
  template <class F> void forKernels(F &&f) {
    for (size_t i = 0; i < device.actions.size(); ++i)
      if (const auto *kernel = device.actions[i].as<KernelAction>())
        f(static_cast<int>(i), device.actions[i].task, *kernel);
  }

  /// The result of the kernel at index `at` is its operand, if both stay as
  /// they are from then on.
  void addView(int at, const KernelAction &kernel,
               const std::vector<int> &lastWrites) {
    const BufferId in = kernel.ins[0], out = kernel.outs[0];
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
  void addOverwrites(int at, const TaskId &task, const KernelAction &kernel) {
    const Op &op = graph.op(task.op);
    const auto &allowed = op.rules.mayOverwrite;
    const Phase &phase =
        scheduleFor(op.rules, strategy[task.op]).phases[task.phase];
    auto mayTake = [&](int result, int operand) {
      return std::find(allowed.begin(), allowed.end(),
                       std::make_pair(result, operand)) != allowed.end();
    };
    for (size_t w = 0; w < phase.writes.size(); ++w) {
      BufferId out = kernel.outs[w];
      if (out < 0 || lifetimes[out].first != at)
        continue;
      int result = phase.writes[w].slot - static_cast<int>(op.operands.size());
      for (size_t r = 0; r < phase.reads.size(); ++r) {
        BufferId in = kernel.ins[r];
        if (in < 0 || places.lifetimes[places.base[in]].last != at ||
            !sameMemory(device.buffers[in], device.buffers[out]))
          continue;
        // Bytes read in several slots must be allowed in all of them.
        bool fits = true;
        for (size_t other = 0; other < phase.reads.size(); ++other)
          if (BufferId also = kernel.ins[other];
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
                              std::vector<DeviceProgram> &devices) {
  BlockPlacer placer;
  for (DeviceProgram &device : devices) {
    Blocks arena = blocksOf(graph, strategy, device);
    device.arenaBytes = placer.place(arena.blocks);
    device.stateBytes = 0;
    for (size_t b = 0; b < device.buffers.size(); ++b) {
      Buffer &buffer = device.buffers[b];
      if (buffer.section == Section::State) {
        buffer.offset = device.stateBytes;
        device.stateBytes += aligned(buffer.bytes);
      } else {
        buffer.offset = arena.offsetOf(static_cast<BufferId>(b));
      }
    }
  }
}
