//===- emulated_nccl.cpp - NCCL's operations over MPI ---------------------===//
#include "emulated_windows.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <mpi.h>
#include <unistd.h>
#include <utility>
#include <vector>

using ffrt::emulated::expect_symmetric;
using ffrt::emulated::submit;

namespace {

int depth = 0;                      ///< of groups
cudaStream_t messages_of = nullptr; ///< the stream of the group that is open
/// Start the messages of the group that is open.
std::vector<std::function<int(MPI_Request *)>> messages;

MPI_Datatype mpi_type(ncclDataType_t type) {
  switch (type) {
  case ncclUint8:
    return MPI_UINT8_T;
  case ncclInt32:
    return MPI_INT32_T;
  case ncclInt64:
    return MPI_INT64_T;
  case ncclFloat32:
    return MPI_FLOAT;
  case ncclFloat64:
    return MPI_DOUBLE;
  case ncclBfloat16:
  case ncclFloat16:
    return MPI_UINT16_T;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(ncclRedOp_t op) { return op == ncclSum ? MPI_SUM : MPI_MAX; }

/// MPI cannot add what it does not know.
bool reduces(ncclDataType_t type) {
  return type != ncclBfloat16 && type != ncclFloat16;
}

ncclResult_t result(int status) {
  return status == MPI_SUCCESS ? ncclSuccess : ncclInvalidUsage;
}

/// What fails after it was started ends all ranks, as MPI does it itself unless
/// told otherwise.
void expect(int status) {
  if (status != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
}

} // namespace

const char *ncclGetErrorString(ncclResult_t status) {
  return status == ncclSuccess ? "no error" : "invalid usage";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::memset(id, 1, sizeof *id);
  return ncclSuccess;
}

/// With FFRT_EMULATED_NCCL=none there is none, which shows who asks for it.
/// With "stuck" it never ends.
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                              int rank) {
  if (const char *text = std::getenv("FFRT_EMULATED_NCCL")) {
    if (std::strcmp(text, "none") == 0)
      return ncclInvalidUsage;
    while (std::strcmp(text, "stuck") == 0)
      pause();
  }
  int found_ranks = 0, found_rank = 0;
  MPI_Comm world;
  const int status = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_size(world, &found_ranks);
  MPI_Comm_rank(world, &found_rank);
  *comm = new EmulatedCommunicator{world, {}};
  const bool fits =
      found_ranks == ranks && found_rank == rank && id.internal[0] == 1;
  return fits ? result(status) : ncclInvalidUsage;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t *split, ncclConfig_t *) {
  MPI_Comm part;
  const int status =
      MPI_Comm_split(comm->comm, color < 0 ? MPI_UNDEFINED : color, key, &part);
  *split = part == MPI_COMM_NULL ? nullptr : new EmulatedCommunicator{part, {}};
  return result(status);
}

/// As NCCL's it waits for the other ranks.
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  MPI_Barrier(comm->comm);
  MPI_Comm_free(&comm->comm);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *status) {
  *status = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--depth > 0 || messages.empty())
    return ncclSuccess;
  submit(messages_of, [group = std::exchange(messages, {})] {
    std::vector<MPI_Request> requests(group.size());
    for (std::size_t i = 0; i < group.size(); ++i)
      expect(group[i](&requests[i]));
    expect(MPI_Waitall(int(requests.size()), requests.data(),
                       MPI_STATUSES_IGNORE));
  });
  return ncclSuccess;
}

ncclResult_t ncclSend(const void *data, std::size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  ncclGroupStart();
  messages_of = stream;
  messages.push_back([=](MPI_Request *request) {
    return MPI_Isend(data, int(count), mpi_type(type), peer, 0, comm->comm,
                     request);
  });
  return ncclGroupEnd();
}

ncclResult_t ncclRecv(void *data, std::size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  ncclGroupStart();
  messages_of = stream;
  messages.push_back([=](MPI_Request *request) {
    return MPI_Irecv(data, int(count), mpi_type(type), peer, 0, comm->comm,
                     request);
  });
  return ncclGroupEnd();
}

ncclResult_t ncclAllReduce(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  if (!reduces(type))
    return ncclInvalidUsage;
  submit(stream, [=] {
    expect_symmetric(comm, from);
    expect_symmetric(comm, to);
    expect(MPI_Allreduce(from == to ? MPI_IN_PLACE : from, to, int(count),
                         mpi_type(type), mpi_op(op), comm->comm));
  });
  return ncclSuccess;
}

ncclResult_t ncclAllGather(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  submit(stream, [=] {
    expect_symmetric(comm, from);
    expect_symmetric(comm, to);
    expect(MPI_Allgather(from, int(count), mpi_type(type), to, int(count),
                         mpi_type(type), comm->comm));
  });
  return ncclSuccess;
}

ncclResult_t ncclReduceScatter(const void *from, void *to, std::size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  if (!reduces(type))
    return ncclInvalidUsage;
  submit(stream, [=] {
    expect_symmetric(comm, from);
    expect_symmetric(comm, to);
    expect(MPI_Reduce_scatter_block(from, to, int(count), mpi_type(type),
                                    mpi_op(op), comm->comm));
  });
  return ncclSuccess;
}

ncclResult_t ncclBroadcast(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  if (from != to)
    return ncclInvalidUsage;
  submit(stream, [=] {
    expect_symmetric(comm, to);
    expect(MPI_Bcast(to, int(count), mpi_type(type), root, comm->comm));
  });
  return ncclSuccess;
}
