//===- ReadsApart.h - reads of a value that share nothing -------*- C++ -*-===//
//
// Internal to Plan. What is brought to a reader is there for the next ones. The
// slices of a value, which is what the gradient of a concatenation has for
// readers, have no use for each other's parts. To know that keeps the layouts
// of such a value few: they do not depend on who has read it before.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_READSAPART_H
#define FFC_LIB_PLAN_READSAPART_H

#include "ffc/Plan/Graph.h"

#include <cstdint>
#include <vector>

namespace ffc::plan {

/// It does not depend on the strategy.
class ReadsApart {
public:
  explicit ReadsApart(const Graph &graph);

  /// True if what the operator reads through this slot, under any
  /// configuration, meets nothing that anyone else needs of the value. May be
  /// false of a value with very many readers that meet.
  bool contains(OpId op, int slot) const {
    return slot < kSlots && (slots[op] >> slot & 1) != 0;
  }

private:
  /// Nothing is said of others: what slices a value has few operands.
  static constexpr int kSlots = 64;
  void look(const Graph &graph, const Value &value);

  std::vector<uint64_t> slots; ///< by operator, as bits
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_READSAPART_H
