//===- SymmetricSection.h - collectives at equal offsets --------*- C++ -*-===//
//
// GPUs that may write to each other's memory need no copies through buffers of
// the library, if a collective's operands lie at the same offset of a window
// that all ranks have registered (NCCL, "Window Registration"). The symmetric
// section is that window: the first bytes of every arena, equally many.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_SYMMETRICSECTION_H
#define FFC_PLAN_SYMMETRICSECTION_H

#include "ffc/Plan/Program.h"

namespace ffc::plan {

/// The section begins with the arena and is a multiple of this: what NCCL
/// wants of a window.
constexpr int64_t kWindowAlignment = 4096;

/// Assigns all offsets of `program` anew, sets the bytes of every device, and
/// Program::symmetricBytes. What a collective reads on its members lies at one
/// offset in the section, and so does what it writes. The section is not theirs
/// alone: other buffers use it while they do not.
///
/// Left out are operands that are in the state of a member, and those that
/// would have two buffers of a device in one place; they lie behind the section
/// on all members.
void assignSymmetricOffsets(const Graph &graph, const Strategy &strategy,
                            Program &program);

} // namespace ffc::plan

#endif // FFC_PLAN_SYMMETRICSECTION_H
