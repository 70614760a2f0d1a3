//===- restarts.h - ranks that are started again ----------------*- C++ -*-===//
#ifndef FFRT_COMMON_RESTARTS_H
#define FFRT_COMMON_RESTARTS_H

#include <functional>

namespace ffrt {

/// Runs start(attempt), which starts ranks and ends as they end, in a process
/// of its own, apart from this one's terminal, and returns its status. When it
/// ends badly it is run again, up to `restarts` times: not after an error of
/// the command line (status 2), nor when a signal, to it or to this process,
/// has asked the run to end.
///
/// Signals are passed on, as launchers pass them on to ranks: SIGTERM and
/// SIGINT as SIGUSR2, since mpirun would end its ranks at once, unless they
/// come again. The status is 128 + the signal's number then.
int with_restarts(int restarts, const std::function<void(int attempt)> &start);

} // namespace ffrt

#endif // FFRT_COMMON_RESTARTS_H
