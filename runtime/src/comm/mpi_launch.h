//===- mpi_launch.h - starting ranks with MPI -------------------*- C++ -*-===//
#ifndef FFRT_COMM_MPI_LAUNCH_H
#define FFRT_COMM_MPI_LAUNCH_H

namespace ffrt {

/// Chooses Open MPI components by environment variables, before MPI starts:
/// few of them when all ranks share a node (start-up time), and yielding while
/// idle when ranks outnumber cores. Variables that are set win.
void prepare_mpi_environment();

} // namespace ffrt

#endif // FFRT_COMM_MPI_LAUNCH_H
