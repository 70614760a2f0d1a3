//===- ArenaBlocks.h - what lies in an arena for some time ------*- C++ -*-===//
//
// Internal to what assigns offsets.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_ARENABLOCKS_H
#define FFC_LIB_PLAN_ARENABLOCKS_H

#include "ffc/Plan/Arena.h"

namespace ffc::plan {

/// `bytes`, up to the next multiple of `alignment`.
inline int64_t aligned(int64_t bytes, int64_t alignment = kBufferAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Bytes in use for some time: a buffer, or several that follow one another in
/// one place.
struct Block {
  int64_t bytes = 0;
  Lifetime life;
  int64_t offset = 0;
  bool fixed = false; ///< `offset` is given
  int64_t from = 0;   ///< otherwise: the lowest offset it may have
};

/// The blocks of a device.
struct Blocks {
  std::vector<Block> blocks;
  std::vector<int> of; ///< the block of each buffer; -1: none
};

/// Results lie in place of operands where they may.
Blocks blocksOf(const Graph &graph, const Strategy &strategy,
                const DeviceProgram &device);

/// Blocks that have an offset.
class PlacedBlocks {
public:
  /// The lowest offset, `from` or above, that is free while `block` lives.
  int64_t lowest(const Block &block, int64_t from) const;
  /// `block` has its offset.
  void add(const Block &block);
  /// The end of the last one.
  int64_t bytes() const { return total; }

private:
  std::vector<Block> placed; ///< by offset
  int64_t total = 0;
};

/// Bytes, and bytes times actions.
int64_t sizeOf(const Block &block);
int64_t areaOf(const Block &block);

/// Gives all blocks that are not fixed an offset, and returns the end of the
/// last block.
int64_t placeBlocks(Blocks &blocks);

/// Sets the offsets of all buffers of `device`, those of blocks as given, and
/// its stateBytes.
void storeOffsets(DeviceProgram &device, const Blocks &blocks);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_ARENABLOCKS_H
