//===- SymmetricSection.cpp - collectives at equal offsets ----------------===//

#include "ffc/Plan/SymmetricSection.h"

#include "ArenaBlocks.h"
#include "Meetings.h"

#include <algorithm>
#include <numeric>
#include <optional>

using namespace ffc::plan;

namespace {

/// A block of a device.
struct Member {
  size_t device;
  int block;
};

/// Sets of numbers, each named by one of them.
class DisjointSets {
public:
  explicit DisjointSets(size_t count) : parents(count) {
    std::iota(parents.begin(), parents.end(), size_t(0));
  }
  size_t find(size_t x) {
    while (parents[x] != x)
      x = parents[x] = parents[parents[x]];
    return x;
  }
  void join(size_t a, size_t b) { parents[find(a)] = find(b); }

private:
  std::vector<size_t> parents;
};

/// Blocks that are to have the same offset.
struct Twins {
  std::vector<Member> members; ///< ascending devices
  int64_t bytes = 0, area = 0; ///< of the largest
  bool apart = false;          ///< they cannot, or have no reason to
};

class Layout {
public:
  Layout(const Graph &graph, const Strategy &strategy, Program &program)
      : program(program) {
    for (const DeviceProgram &device : program.devices) {
      first.push_back(numBlocks);
      devices.push_back(blocksOf(graph, strategy, device));
      numBlocks += devices.back().blocks.size();
    }
  }

  void run() {
    findTwins();
    leaveOut();
    fix();
    for (size_t d = 0; d < devices.size(); ++d) {
      DeviceProgram &device = program.devices[d];
      device.arenaBytes =
          std::max(placeBlocks(devices[d]), program.symmetricBytes);
      storeOffsets(device, devices[d]);
    }
  }

private:
  /// What a collective reads and writes on a member; -1: no block.
  int blockOf(ActionRef ref, BufferId Action::*operand) const {
    const BufferId buffer =
        program.devices[ref.device].actions[ref.index].*operand;
    return buffer < 0 ? -1 : devices[ref.device].of[buffer];
  }
  bool has(ActionRef ref, BufferId Action::*operand) const {
    return program.devices[ref.device].actions[ref.index].*operand >= 0;
  }
  Twins &twinsOf(ActionRef ref, int block) {
    return twins[classes[first[ref.device] + block]];
  }

  void findTwins() {
    meetings = meetingsOf(program);
    DisjointSets sets(numBlocks);
    for (const Meeting &meeting : meetings)
      for (BufferId Action::*operand : {&Action::src, &Action::dst}) {
        std::optional<size_t> before;
        for (ActionRef ref : meeting) {
          const int block = blockOf(ref, operand);
          if (block < 0)
            continue;
          const size_t number = first[ref.device] + block;
          if (before)
            sets.join(*before, number);
          before = number;
        }
      }
    twins.resize(numBlocks);
    for (size_t d = 0; d < devices.size(); ++d)
      for (size_t b = 0; b < devices[d].blocks.size(); ++b) {
        const Block &block = devices[d].blocks[b];
        classes.push_back(sets.find(first[d] + b));
        Twins &all = twins[classes.back()];
        all.apart |= !all.members.empty() && all.members.back().device == d;
        all.members.push_back({d, static_cast<int>(b)});
        all.bytes = std::max(all.bytes, sizeOf(block));
        all.area = std::max(all.area, areaOf(block));
      }
  }

  /// All operands of a collective lie in the section, or none.
  void leaveOut() {
    std::vector<bool> isOperand(twins.size());
    auto forOperands = [&](const Meeting &meeting, auto visit) {
      for (ActionRef ref : meeting)
        for (BufferId Action::*operand : {&Action::src, &Action::dst})
          if (has(ref, operand)) {
            const int block = blockOf(ref, operand);
            visit(block < 0 ? nullptr : &twinsOf(ref, block));
          }
    };
    for (const Meeting &meeting : meetings)
      forOperands(meeting, [&](Twins *t) {
        if (t)
          isOperand[t - twins.data()] = true;
      });
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Meeting &meeting : meetings) {
        bool fits = true;
        forOperands(meeting, [&](Twins *t) { fits &= t && !t->apart; });
        if (!fits)
          forOperands(meeting, [&](Twins *t) {
            changed |= t && !t->apart;
            if (t)
              t->apart = true;
          });
      }
    }
    for (size_t t = 0; t < twins.size(); ++t)
      if (isOperand[t])
        (twins[t].apart ? behind : inside).push_back(t);
  }

  /// Places those of the section in the order of descending weight.
  int64_t place(int64_t Twins::*weight, std::vector<int64_t> &offsets) const {
    std::vector<size_t> order = inside;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return twins[a].*weight > twins[b].*weight;
    });
    std::vector<PlacedBlocks> placed(devices.size());
    offsets.assign(twins.size(), 0);
    int64_t bytes = 0;
    for (size_t t : order) {
      // Up until it is free on all members.
      int64_t at = -1, next = 0;
      while (at != next) {
        at = next;
        for (const Member &m : twins[t].members)
          next =
              placed[m.device].lowest(devices[m.device].blocks[m.block], next);
      }
      offsets[t] = at;
      for (const Member &m : twins[t].members) {
        Block block = devices[m.device].blocks[m.block];
        block.offset = at;
        placed[m.device].add(block);
        bytes = std::max(bytes, placed[m.device].bytes());
      }
    }
    return bytes;
  }

  void fix() {
    std::vector<int64_t> offsets, byArea;
    int64_t bytes = place(&Twins::bytes, offsets);
    if (int64_t other = place(&Twins::area, byArea); other < bytes) {
      bytes = other;
      offsets = std::move(byArea);
    }
    program.symmetricBytes = aligned(bytes, kWindowAlignment);
    for (size_t t : inside)
      for (const Member &m : twins[t].members) {
        Block &block = devices[m.device].blocks[m.block];
        block.offset = offsets[t];
        block.fixed = true;
      }
    for (size_t t : behind)
      for (const Member &m : twins[t].members)
        devices[m.device].blocks[m.block].from = program.symmetricBytes;
  }

  Program &program;
  std::vector<Blocks> devices;
  std::vector<size_t> first; ///< number of a device's first block
  size_t numBlocks = 0;
  std::vector<Meeting> meetings;
  std::vector<size_t> classes; ///< of all blocks: the number of one in it
  std::vector<Twins> twins;    ///< by class
  std::vector<size_t> inside, behind; ///< of `twins`: operands of collectives
};

} // namespace

void ffc::plan::assignSymmetricOffsets(const Graph &graph,
                                       const Strategy &strategy,
                                       Program &program) {
  Layout(graph, strategy, program).run();
}
