//===- mpi_comm.h - communication over MPI ----------------------*- C++ -*-===//
#ifndef FFRT_COMM_MPI_COMM_H
#define FFRT_COMM_MPI_COMM_H

#include "comm/network.h"

#include <memory>

namespace ffrt {

/// Starts MPI.
std::unique_ptr<Network> make_mpi_network();

} // namespace ffrt

#endif // FFRT_COMM_MPI_COMM_H
