//===- Blocks.h - what follows each other in all sequences ------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_BLOCKS_H
#define FFC_LIB_CODEGEN_BLOCKS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <vector>

namespace ffc::codegen {

/// Sequences of numbers, written with fewer: as basic blocks are found in the
/// paths that a program takes.
struct Blocks {
  /// Of numbers; in the order in which the sequences begin them.
  std::vector<std::vector<size_t>> blocks;
  /// By sequence, the blocks that it is made of once it is filled.
  std::vector<std::vector<size_t>> order;

  /// A number of a sequence, and where it stood; -1: it was filled in.
  struct Item {
    size_t number;
    std::ptrdiff_t at;
  };
  /// By sequence: its numbers in their order, with others between them.
  std::vector<std::vector<Item>> filled;
};

/// Blocks of sequences of numbers. Those of `mayMiss`, by number, may be filled
/// in everywhere, so that what comes now and then divides no block: they are
/// where they stand before some number that may not miss, in the block of that
/// one. All others are in one block each, the longest that is whole wherever a
/// part of it occurs.
Blocks blocksOf(const std::vector<bool> &mayMiss,
                llvm::ArrayRef<std::vector<size_t>> sequences);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_BLOCKS_H
