//===- mpi_comm.h - MPI as a part of other transports -----------*- C++ -*-===//
#ifndef FFRT_COMM_MPI_COMM_H
#define FFRT_COMM_MPI_COMM_H

#include "ffrt/comm.h"

#include <memory>
#include <string>

namespace ffrt {

class MpiTransport : public Comm {
public:
  /// True when `event` has happened, after which it must not be waited for.
  virtual bool test(Event event) = 0;
};

/// Starts MPI.
std::unique_ptr<MpiTransport> make_mpi_transport();

/// What is wrong with the sizes of the operands of all_gather or
/// reduce_scatter; empty: nothing.
std::string block_mismatch(const Group &group, const Tensor &part,
                           const Tensor &whole);

/// The cause when a collective is called for a group without this rank.
constexpr const char *kStranger =
    "expected a group of this rank, found another";

} // namespace ffrt

#endif // FFRT_COMM_MPI_COMM_H
