//===- launch.h - starting ranks --------------------------------*- C++ -*-===//
#ifndef FFRT_COMM_LAUNCH_H
#define FFRT_COMM_LAUNCH_H

#include <string>
#include <vector>

namespace ffrt {

/// Chooses Open MPI components by environment variables, before MPI starts:
/// few of them when all ranks share a node (start-up time), and yielding while
/// idle when ranks outnumber cores. Variables that are set win.
void prepare_mpi_environment();

/// Replaces this process by mpirun with `ranks` local ranks of this program.
/// Returns only by throwing Error.
[[noreturn]] void exec_local_ranks(int ranks,
                                   const std::vector<std::string> &arguments);

} // namespace ffrt

#endif // FFRT_COMM_LAUNCH_H
