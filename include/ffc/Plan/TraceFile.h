//===- TraceFile.h - predicted times as a trace -----------------*- C++ -*-===//
//
// The Trace Event Format (JSON), which https://ui.perfetto.dev and
// chrome://tracing show. Emitted programs write theirs in the same form
// (runtime/src/common/profiling/trace_file.h); docs/timeline.md describes it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_TRACEFILE_H
#define FFC_PLAN_TRACEFILE_H

#include "ffc/Plan/Simulation.h"

#include <iosfwd>

namespace ffc::plan {

/// A process per device with threads for the step, for kernels and copies, and
/// for communication; an event per action that takes time. Times are in
/// microseconds with all picoseconds.
void writeTrace(std::ostream &out, const Simulation &simulation);

} // namespace ffc::plan

#endif // FFC_PLAN_TRACEFILE_H
