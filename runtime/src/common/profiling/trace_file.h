//===- trace_file.h - measured times in a file ------------------*- C++ -*-===//
//
// The Trace Event Format (JSON), which https://ui.perfetto.dev and
// chrome://tracing show, as ffc --trace writes it for predicted times: a
// process per rank with threads for steps, kernels and copies, and
// communication.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_TRACE_FILE_H
#define FFRT_COMMON_TRACE_FILE_H

#include "ffrt/comm.h"
#include "ffrt/trace.h"

#include <string>

namespace ffrt {

/// The events of one rank, each with a comma and a line break after it. Times
/// are counted from `origin` on, on a clock that the rank's is `ahead` of.
std::string trace_events(const Trace &trace, int rank, int64_t ahead,
                         int64_t origin);

/// Collective. Throws Stop on all ranks, after a message, if `path` cannot be
/// written; better found out before the first step than after the last one.
void check_trace(Comm &comm, const Group &world, const std::string &path);

/// Collective. Writes the traces of all ranks on rank 0, on its clock from the
/// first start on. Throws Stop as above.
void write_trace(Comm &comm, const Group &world, const Trace &trace,
                 const std::string &path);

} // namespace ffrt

#endif // FFRT_COMMON_TRACE_FILE_H
