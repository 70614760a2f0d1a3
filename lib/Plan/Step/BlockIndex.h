//===- BlockIndex.h - which boxes of a value meet a box ---------*- C++ -*-===//
//
// Internal to reshards. The parts of a value mostly form a grid, so that few
// intervals occur in each dimension: a box is looked up dimension by dimension
// (closed form), not by comparing it with all parts.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_BLOCKINDEX_H
#define FFC_LIB_PLAN_BLOCKINDEX_H

#include "ffc/Plan/Box.h"

#include <utility>
#include <vector>

namespace ffc::plan {

class BlockIndex {
public:
  void reserve(size_t boxes) { entries.reserve(boxes); }
  /// Boxes have the rank of the first one; empty ones are left out.
  void add(const Box &box, int item);
  void add(const Region &region, int item) {
    region.forEachBox([&](const Box &box) { add(box, item); });
  }
  /// To be called once all are added: numbers of the items of which a box meets
  /// `box`, ascending, each once. Valid until the next call.
  const std::vector<int> &meeting(const Box &box) const;

private:
  /// The distinct intervals of a dimension, by their lower ends.
  struct Axis {
    std::vector<Interval> intervals;
    std::vector<int64_t> highest; ///< of the upper ends up to here
  };
  struct Entry {
    Box box;
    int item;
  };

  using Range = std::pair<size_t, size_t>;

  void build() const;
  static Range rangeOf(const Axis &axis, Interval interval);
  void scan(const Box &box) const;
  void look(const Box &box, int dim, uint64_t cell) const;

  std::vector<Entry> entries;
  /// The index, once it has been asked often enough.
  mutable std::vector<Axis> axes;
  /// By cell of the grid of all intervals; empty if entries are few.
  mutable std::vector<std::pair<uint64_t, int>> cells;
  mutable int questions = 0;
  mutable std::vector<int> found;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_BLOCKINDEX_H
