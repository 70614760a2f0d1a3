//===- SymmetricSection.h - equal offsets on all ranks ----------*- C++ -*-===//
//
// GPUs read and write each other's memory in a collective if the buffers of all
// members lie at one offset of memory that they have registered together
// (docs/decisions/0031). Such memory is the first part, of equal size on every
// device, of the state and of the arena.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_SYMMETRICSECTION_H
#define FFC_PLAN_SYMMETRICSECTION_H

#include "ffc/Plan/Program.h"

namespace ffc::plan {

/// Lays out the buffers of all devices anew: what the members of a collective
/// give, and what they get, lies at one offset of the symmetric part on all of
/// them, if each may do so on every device. Of a collective for which that
/// cannot be, no buffer on that side lies in the symmetric part. Other buffers
/// lie wherever there is room, but not across the end of that part.
void assignSymmetricOffsets(const Graph &graph, const Strategy &strategy,
                            Program &program);

} // namespace ffc::plan

#endif // FFC_PLAN_SYMMETRICSECTION_H
