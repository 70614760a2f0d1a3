//===- restarts.h - ranks that are started again ----------------*- C++ -*-===//
#ifndef FFRT_COMMON_RESTARTS_H
#define FFRT_COMMON_RESTARTS_H

#include <functional>

namespace ffrt {

/// Runs start(attempt), which starts ranks and ends as they end, in a process
/// of its own, and returns its status. When it ends badly it is run again, up
/// to `restarts` times: not after an error of the command line (status 2), nor
/// when a signal, to it or to this process, has asked the run to end. Signals
/// are passed on.
int with_restarts(int restarts, const std::function<void(int attempt)> &start);

} // namespace ffrt

#endif // FFRT_COMMON_RESTARTS_H
