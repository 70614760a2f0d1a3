//===- threads.cpp - cores for the ranks of a node ------------------------===//
#include "common/device/threads.h"

#include "comm/watch.h"
#include "ffrt/mpi.h"

#include <mpi.h>

namespace ffrt {

int set_threads(Comm &comm) {
  const std::shared_ptr<Watch> watch = comm.watch();
  const Watch::Operation operation{"set threads", nullptr, {}};
  const Watch::Scope scope(*watch, operation);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                      &node);
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  // Launchers may bind ranks to disjoint cores: what counts is the union.
  cpu_set_t set = own_cores();
  MPI_Allreduce(MPI_IN_PLACE, &set, sizeof set, MPI_BYTE, MPI_BOR, node);
  MPI_Comm_free(&node);
  return set_threads(set, ranks);
}

} // namespace ffrt
