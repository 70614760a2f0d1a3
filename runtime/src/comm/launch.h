//===- launch.h - starting ranks --------------------------------*- C++ -*-===//
#ifndef FFRT_COMM_LAUNCH_H
#define FFRT_COMM_LAUNCH_H

#include <string>
#include <vector>

namespace ffrt {

/// The path of this executable. Throws Error.
std::string this_program();

/// What a launcher of MPI sets for its ranks alone; null: none has started this
/// process.
const char *mpi_rank_variable();

/// A number from the environment, or `missing`.
int environment_number(const char *variable, int missing);

/// The words that start this program with these arguments.
std::vector<std::string> own_command(const std::vector<std::string> &arguments);

/// Replaces this process by another program. Returns only by throwing Error.
[[noreturn]] void exec(std::vector<std::string> words);

/// Starts `ranks` ranks of this program on this machine and ends as they end.
/// Returns only by throwing Error.
[[noreturn]] void exec_local_ranks(int ranks,
                                   const std::vector<std::string> &arguments);

} // namespace ffrt

#endif // FFRT_COMM_LAUNCH_H
