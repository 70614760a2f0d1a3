//===- ArenaBlocks.h - what takes bytes of an arena, and when ---*- C++ -*-===//
//
// Internal to Plan: buffers that lie in one place, and where that place is.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_ARENABLOCKS_H
#define FFC_LIB_PLAN_ARENABLOCKS_H

#include "ffc/Plan/Arena.h"

#include <vector>

namespace ffc::plan {

inline int64_t aligned(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

/// Bytes in use for some time: a buffer, or several that are one, or follow one
/// another, in one place.
struct Block {
  int64_t bytes = 0;
  Lifetime life;
  int64_t offset = -1; ///< -1: has no place yet
  bool apart = false;  ///< not to lie in the symmetric part

  bool operator==(const Block &o) const {
    return bytes == o.bytes && life == o.life && offset == o.offset &&
           apart == o.apart;
  }
};

/// Those of a device's arena.
struct Blocks {
  std::vector<Block> blocks;
  std::vector<int> of; ///< the block of each buffer; -1: none

  int64_t offsetOf(BufferId buffer) const {
    return of[buffer] < 0 ? 0 : blocks[of[buffer]].offset;
  }
};

/// Bytes times actions.
inline int64_t areaOf(const Block &block) {
  return block.bytes * (block.life.last - block.life.first + 1);
}

/// Results lie in place of operands where they may.
Blocks blocksOf(const Graph &graph, const Strategy &strategy,
                const DeviceProgram &device);

/// Gives a place to every block that has none, such that none lies across
/// `symmetric`, where the symmetric part ends. Returns the bytes of all, at
/// least `symmetric`.
int64_t placeBlocks(std::vector<Block> &blocks, int64_t symmetric = 0);

/// Does that for one device after the other. Most do what the last one did, and
/// their blocks lie where its blocks do.
class BlockPlacer {
public:
  int64_t place(std::vector<Block> &blocks, int64_t symmetric = 0);

private:
  std::vector<Block> given, placed; ///< of the last device
  int64_t givenSymmetric = 0, bytes = 0;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_ARENABLOCKS_H
