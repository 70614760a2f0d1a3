//===- MemoryOrders.h - order of the elements in memory ---------*- C++ -*-===//
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
///
/// A value of 16 bits whose rows are no multiples of kPitch is pitched where a
/// product touches it and every kernel that touches it takes rows that are
/// apart, so that tensor cores are fed with rows that begin at multiples of 16
/// bytes: the logits of a vocabulary of 50,257 words, and their gradient.
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
  void pitchRows();
  MemoryOrder &ofSlot(OpId op, int slot);
  MemoryOrder ofSlot(OpId op, int slot) const {
    return const_cast<MemoryOrders *>(this)->ofSlot(op, slot);
  }
  bool present(OpId op, int slot) const;

  const Graph &graph;
  std::vector<MemoryOrder> values;
  std::vector<std::vector<MemoryOrder>> internals; ///< by operator
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_MEMORYORDERS_H
