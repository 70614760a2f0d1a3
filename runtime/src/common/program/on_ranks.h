//===- on_ranks.h - from main to the ranks ----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_ON_RANKS_H
#define FFRT_COMMON_ON_RANKS_H

#include "ffrt/comm.h"
#include "ffrt/context.h"
#include "ffrt/mpi.h"

#include <functional>
#include <string>
#include <vector>

namespace ffrt {

/// What the command line says of all that a program does.
struct Start {
  std::string text;            ///< printed once and all; empty: there is more
  double deadline = kDeadline; ///< of waits for other ranks, in seconds
};

/// The main function of a program for `ranks` ranks; returns the exit status.
///
/// `parse` reads the command line, before the ranks meet. It throws Error if
/// that is wrong: one message, status 2.
///
/// `body` does the work. What it throws ends all ranks with one message, which
/// is about `task`.
int on_ranks(const char *program, int ranks, const char *task,
             const std::function<Start()> &parse,
             const std::function<void(Comm &)> &body);

/// Throws Error if --local-ranks asks for another number of ranks than a
/// program is for.
void check_local_ranks(int asked, int ranks);
/// Starts that many with these arguments and ends as they end. Throws Error
/// where a launcher has started this process.
[[noreturn]] void start_local_ranks(int ranks,
                                    const std::vector<std::string> &arguments);

/// All ranks.
Group make_world(Comm &comm);

/// For the kernels of this rank. Sets the number of threads.
Context make_context(Comm &comm);

} // namespace ffrt

#endif // FFRT_COMMON_ON_RANKS_H
