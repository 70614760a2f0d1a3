//===- Batches.h - collectives that start as one ----------------*- C++ -*-===//
//
// Those of a batch (Program::Batch), in the words of a device: the first one
// starts all, and the others follow it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_BATCHES_H
#define FFC_PLAN_BATCHES_H

#include "ffc/Plan/Program.h"

namespace ffc::plan {

/// How many collectives start as one with the action at `index`, the first of
/// them: 1 where it starts alone, 0 where it starts with one before it.
int numStartingAt(const DeviceProgram &device, size_t index);

} // namespace ffc::plan

#endif // FFC_PLAN_BATCHES_H
