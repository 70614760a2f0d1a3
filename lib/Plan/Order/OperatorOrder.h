//===- OperatorOrder.h - the operators of a step, in order ------*- C++ -*-===//
//
// Internal to Plan. Operators are done in graph order, in which an update comes
// soon after its gradient, whose memory is then free for the next one. But
// where devices communicate beside their kernels, updates come last, so that
// nobody waits for a gradient before all of them are there (docs/decisions/
// 0015), and in a step of several micro-batches, which end before (0024). What
// reads the result of an update comes after it.
//
// A pipeline (PipelineSchedule.h) has an order of its own for what works on
// micro-batches, and this one for all else.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_OPERATORORDER_H
#define FFC_LIB_PLAN_OPERATORORDER_H

#include "ffc/Plan/Graph.h"

#include <vector>

namespace ffc::plan {

class OperatorOrder {
public:
  /// `overlaps`: devices communicate beside their kernels.
  OperatorOrder(const Graph &graph, bool overlaps);

  /// In their order, in which each comes after those that make what it reads.
  const std::vector<OpId> &all() const { return ops; }
  OpId at(OpId place) const { return ops[place]; }
  /// Where among them an operator is; the number of operators is in its own
  /// place.
  OpId placeOf(OpId op) const { return places[op]; }
  bool isBefore(OpId a, OpId b) const { return places[a] < places[b]; }
  /// The first operator that reads a value; it must have a reader.
  OpId firstReader(const Value &value) const;
  /// The last operator that is no update; -1 if there is none. In a step of
  /// several micro-batches it ends each of them.
  OpId lastBeforeUpdates() const { return last; }
  /// Do devices communicate beside their kernels?
  bool overlaps() const { return overlapping; }

private:
  std::vector<OpId> ops, places;
  OpId last = -1;
  bool overlapping;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_OPERATORORDER_H
