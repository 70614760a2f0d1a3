//===- SlotCheck.h - do kernels get what they take? -------------*- C++ -*-===//
//
// Internal to the verifier.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_SLOTCHECK_H
#define FFC_LIB_PLAN_SLOTCHECK_H

#include "Graph/MemoryOrders.h"
#include "ffc/Plan/Program.h"

#include <optional>
#include <string>

namespace ffc::plan {

/// What is wrong with what `kernel`, of `phase` of `op`, is given in `slot`, as
/// the end of a sentence that says what it does with it. Null stands for
/// nothing, which is right for an operand that the model does not have, and for
/// a result that nobody reads and the kernel does without. Else it must be of
/// the type and rank of the tensor, of the part that the tile touches through
/// `access`, and in the order in memory that the phase has there.
std::optional<std::string>
checkSlot(const Graph &graph, const MemoryOrders &orders, OpId op,
          const KernelAction &kernel, const Phase &phase, int slot,
          const Access &access, const Buffer *buffer);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_SLOTCHECK_H
