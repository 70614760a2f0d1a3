//===- on_ranks.h - from main to the ranks ----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_ON_RANKS_H
#define FFRT_COMMON_ON_RANKS_H

#include "ffrt/comm.h"
#include "ffrt/context.h"

#include <functional>
#include <string>
#include <vector>

namespace ffrt {

/// The main function of a program for `ranks` ranks; returns the exit status.
///
/// `parse` reads the command line, before the ranks meet. It throws Error if
/// that is wrong: one message, status 2. A text that it returns is printed once
/// and is all that the program does.
///
/// `body` does the work. What it throws ends all ranks with one message, which
/// is about `task`.
int on_ranks(const char *program, int ranks, const char *task,
             const std::function<std::string()> &parse,
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
