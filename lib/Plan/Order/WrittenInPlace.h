//===- WrittenInPlace.h - results that are written where they stay --------===//
//
// Internal to Plan.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_WRITTENINPLACE_H
#define FFC_LIB_PLAN_WRITTENINPLACE_H

#include "Graph/MemoryOrders.h"
#include "OperatorOrder.h"

namespace ffc::plan {

/// Results without buffers of their own: operators write them over an operand
/// (OpRules::inPlace), or into the state that they are stored in, where nobody
/// needs what was there. It does not depend on the strategy.
class WrittenInPlace {
public:
  WrittenInPlace(const Graph &graph, const MemoryOrders &orders,
                 const OperatorOrder &operators);

  bool contains(ValueId value) const { return inPlace[value]; }
  /// The state whose buffers hold `value` as soon as it is computed, and which
  /// no operand has brought there; -1: none.
  StateId state(ValueId value) const { return states[value]; }

private:
  std::vector<bool> inPlace;   ///< by value
  std::vector<StateId> states; ///< by value
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_WRITTENINPLACE_H
