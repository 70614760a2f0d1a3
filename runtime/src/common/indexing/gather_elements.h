//===- gather_elements.h - lines of what is indexed -------------*- C++ -*-===//
#ifndef FFRT_COMMON_GATHER_ELEMENTS_H
#define FFRT_COMMON_GATHER_ELEMENTS_H

#include "common/indexing/embedding.h"
#include "common/indexing/gather.h"
#include "ffrt/function.h"

namespace ffrt {

/// Indices and what they pick from, line by line along the axis.
struct IndexedLines {
  Runs indexed, picked; ///< of the same blocks and lengths
  int64_t extent, lo;   ///< of the whole axis, and where `indexed` begins
  const void *indices;
  bool is_long; ///< are these i64, not i32?

  IndexedLines(const Tensor &x, const Tensor &indices, int axis)
      : indexed(x, axis), picked(indices, axis), extent(x.global[axis]),
        lo(x.lo[axis]), indices(indices.data),
        is_long(indices.type == DType::i64) {}

  int64_t lines() const { return indexed.blocks * indexed.length; }

  /// The index at element `i` of the indices.
  FFRT_FUNCTION int64_t index(int64_t i) const {
    return is_long ? static_cast<const int64_t *>(indices)[i]
                   : static_cast<const int32_t *>(indices)[i];
  }
  /// The element of x that element `i` of the indices names in its line; -1 if
  /// this part of x does not have it.
  FFRT_FUNCTION int64_t named(int64_t i) const {
    const int64_t position = local_row(index(i), extent, lo);
    if (position < 0 || position >= indexed.positions)
      return -1;
    const int64_t block = i / (picked.positions * picked.length),
                  at = i % picked.length;
    return (block * indexed.positions + position) * indexed.length + at;
  }
};

} // namespace ffrt

#endif // FFRT_COMMON_GATHER_ELEMENTS_H
