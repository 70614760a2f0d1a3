//===- StepMemory.h - what a strategy needs on every device -----*- C++ -*-===//
#ifndef FFC_PLAN_STEPMEMORY_H
#define FFC_PLAN_STEPMEMORY_H

#include "ffc/Plan/Segments.h"

#include <vector>

namespace ffc::plan {

/// Bytes on every device, from the segments alone: the state, and the most that
/// values hold at once, each from the operator that makes it to its last
/// reader, with all parts it is resharded to. Staging buffers, results that lie
/// where an operand was and gaps of the arena are not seen, so this is an
/// estimate of planProgram()'s bytes, which are exact.
std::vector<int64_t> stepMemory(SegmentTable &table,
                                const std::vector<ConfigId> &configs);

} // namespace ffc::plan

#endif // FFC_PLAN_STEPMEMORY_H
