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
  bool areOperands = false;    ///< of collectives
  bool apart = false;          ///< they cannot
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
    fix();
    for (size_t d = 0; d < devices.size(); ++d) {
      DeviceProgram &device = program.devices[d];
      device.arenaBytes =
          std::max(placeBlocks(devices[d]), program.symmetricBytes);
      storeOffsets(device, devices[d]);
    }
  }

private:
  void findTwins() {
    DisjointSets sets(numBlocks);
    // Operands, and whether they cannot be in the section.
    std::vector<std::pair<size_t, bool>> operands;
    for (const Meeting &meeting : meetingsOf(program))
      for (BufferId Action::*operand : {&Action::src, &Action::dst}) {
        std::optional<size_t> before;
        bool inState = false;
        for (ActionRef ref : meeting) {
          const BufferId buffer =
              program.devices[ref.device].actions[ref.index].*operand;
          const int block = buffer < 0 ? -1 : devices[ref.device].of[buffer];
          inState |= buffer >= 0 && block < 0;
          if (block < 0)
            continue;
          const size_t number = first[ref.device] + block;
          if (before)
            sets.join(*before, number);
          before = number;
        }
        if (before)
          operands.push_back({*before, inState});
      }
    twins.resize(numBlocks);
    for (size_t d = 0; d < devices.size(); ++d)
      for (size_t b = 0; b < devices[d].blocks.size(); ++b) {
        const Block &block = devices[d].blocks[b];
        Twins &all = twins[sets.find(first[d] + b)];
        all.apart |= !all.members.empty() && all.members.back().device == d;
        all.members.push_back({d, static_cast<int>(b)});
        all.bytes = std::max(all.bytes, sizeOf(block));
        all.area = std::max(all.area, areaOf(block));
      }
    for (auto [number, inState] : operands) {
      Twins &all = twins[sets.find(number)];
      all.areOperands = true;
      all.apart |= inState;
    }
    for (size_t t = 0; t < twins.size(); ++t)
      if (twins[t].areOperands)
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
  std::vector<Twins> twins;           ///< by the number of one of the blocks
  std::vector<size_t> inside, behind; ///< those of `twins` that are operands
};

} // namespace

void ffc::plan::assignSymmetricOffsets(const Graph &graph,
                                       const Strategy &strategy,
                                       Program &program) {
  Layout(graph, strategy, program).run();
}
