//===- mpi.h - communication between processes ------------------*- C++ -*-===//
#ifndef FFRT_MPI_H
#define FFRT_MPI_H

#include "ffrt/comm.h"

#include <memory>
#include <string>

namespace ffrt {

/// Starts MPI and gives its world; in programs without MPI, the ranks that
/// --local-ranks has started. One per process; the destructor finalizes MPI.
/// Must be called before threads start that read the environment.
std::unique_ptr<Comm> make_mpi_comm();

/// Seconds, where nothing else is asked for.
constexpr double kDeadline = 600;

/// How ranks of one node talk to each other. Nodes always do it over MPI.
enum class Transport {
  automatic, ///< in shared memory where the system allows it
  mpi,
  shared, ///< in shared memory; anything else is an error
  nccl,   ///< between GPUs by NCCL; the host's memory as `automatic`
};

/// FFRT_COMM in the environment: "mpi", "shm", in programs for GPUs "nccl", or
/// nothing. Throws Error.
Transport chosen_transport();

/// As make_mpi_comm, with shared memory within nodes. A rank that waits for
/// others for longer than the deadline, here or in any operation, says for whom
/// and in which task, and all ranks end.
std::unique_ptr<Comm> make_comm(Transport transport,
                                double deadline_seconds = kDeadline);

/// The rank that the launcher gave this process, read from the environment
/// without starting MPI: 0 when there is no launcher.
int launched_rank();
/// The same among the ranks of this node.
int launched_local_rank();
/// How many of them there are; 1 where there is no launcher.
int launched_local_size();

/// True when a launcher (mpirun, srun, --local-ranks) started this process.
bool launched();

/// What a user types to start the ranks of a program, without its arguments.
std::string launch_command(const std::string &program, int ranks);

/// "Open MPI v4.1.4", or "none" where the runtime is built without.
std::string mpi_version();

/// Sets the number of OpenMP threads of this rank and returns it: the cores
/// that the ranks of this node may run on, divided by their number, at least
/// one; OMP_NUM_THREADS overrides, up to OMP_THREAD_LIMIT. Collective over the
/// world; `comm` is what make_comm() gave.
int set_threads(Comm &comm);

} // namespace ffrt

#endif // FFRT_MPI_H
