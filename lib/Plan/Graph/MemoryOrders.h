//===- MemoryOrders.h - order of the dimensions in memory -------*- C++ -*-===//
//
// Internal to Plan.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_MEMORYORDERS_H
#define FFC_LIB_PLAN_MEMORYORDERS_H

#include "ffc/Plan/Graph.h"

#include <vector>

namespace ffc::plan {

/// The order of the shards of every value, and of operators' internal tensors,
/// as they are produced. It does not depend on the strategy.
class MemoryOrders {
public:
  /// `graph` must outlive it.
  explicit MemoryOrders(const Graph &graph);

  MemoryOrder of(ValueId value) const { return values[value]; }
  /// What `access` to slot `slot` in a phase of `op` means: `Follow` is the
  /// order of the first operand that follows, if it has the same rank.
  MemoryOrder of(OpId op, const Phase &phase, const Access &access,
                 int slot) const;

private:
  MemoryOrder &ofSlot(OpId op, int slot);
  bool present(OpId op, int slot) const;

  const Graph &graph;
  std::vector<MemoryOrder> values;
  std::vector<std::vector<MemoryOrder>> internals; ///< by operator
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_MEMORYORDERS_H
