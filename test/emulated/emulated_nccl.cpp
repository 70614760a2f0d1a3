//===- emulated_nccl.cpp - NCCL's operations over MPI ---------------------===//
//
// What stands between ncclGroupStart and ncclGroupEnd starts with the latter,
// and must be as much on all ranks.
//
// FFRT_EMULATED_NCCL=none: there is none, which shows who asks for it. Another
// word is a call that never ends: "stuck", "stuck-id", "stuck-split",
// "stuck-window", "stuck-connect" (of the first operation).
// FFRT_EMULATED_NCCL_STARTS names a file for how often collectives were started
// on rank 0, and how many.
//
//===----------------------------------------------------------------------===//
#include "emulated_windows.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mpi.h>
#include <unistd.h>
#include <utility>
#include <vector>

using ffrt::emulated::expect_as_many;
using ffrt::emulated::expect_symmetric;
using ffrt::emulated::is_nccl;
using ffrt::emulated::stop_if_nccl;
using ffrt::emulated::submit;

namespace {

/// What starts at once.
struct Started {
  cudaStream_t stream = nullptr;
  /// Start the messages.
  std::vector<std::function<int(MPI_Request *)>> messages;
  std::vector<std::function<void()>> collectives;
  ncclComm_t comm = nullptr; ///< of the collectives
};

int depth = 0; ///< of groups
Started open;  ///< the group that is open

/// Of collectives on this rank.
long num_starts = 0, num_collectives = 0;

void write_starts() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char *path = std::getenv("FFRT_EMULATED_NCCL_STARTS");
  FILE *file = path && rank == 0 ? std::fopen(path, "w") : nullptr;
  if (!file)
    return;
  std::fprintf(file, "%ld collectives in %ld starts\n", num_collectives,
               num_starts);
  std::fclose(file);
}

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

void run(const Started &group) {
  std::vector<MPI_Request> requests(group.messages.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    expect(group.messages[i](&requests[i]));
  if (!group.collectives.empty()) {
    expect_as_many(group.comm, int64_t(group.collectives.size()));
    ++num_starts;
    num_collectives += long(group.collectives.size());
  }
  for (const auto &collective : group.collectives)
    collective();
  expect(
      MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

/// Adds to the group that is open, or starts at once.
template <class Add> ncclResult_t start(cudaStream_t stream, Add add) {
  stop_if_nccl("stuck-connect");
  ncclGroupStart();
  if (open.stream && open.stream != stream)
    return ncclInvalidUsage;
  open.stream = stream;
  add(open);
  return ncclGroupEnd();
}

ncclResult_t start_collective(ncclComm_t comm, cudaStream_t stream,
                              std::function<void()> collective) {
  if (open.comm && open.comm != comm)
    return ncclInvalidUsage;
  return start(stream, [&](Started &group) {
    group.comm = comm;
    group.collectives.push_back(std::move(collective));
  });
}

} // namespace

bool ffrt::emulated::is_nccl(const char *word) {
  const char *text = std::getenv("FFRT_EMULATED_NCCL");
  return text && std::strcmp(text, word) == 0;
}

void ffrt::emulated::stop_if_nccl(const char *word) {
  while (is_nccl(word))
    pause();
}

const char *ncclGetErrorString(ncclResult_t status) {
  return status == ncclSuccess ? "no error" : "invalid usage";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  stop_if_nccl("stuck-id");
  std::memset(id, 1, sizeof *id);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                              int rank) {
  if (is_nccl("none"))
    return ncclInvalidUsage;
  stop_if_nccl("stuck");
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
  stop_if_nccl("stuck-split");
  MPI_Comm part;
  const int status =
      MPI_Comm_split(comm->comm, color < 0 ? MPI_UNDEFINED : color, key, &part);
  *split = part == MPI_COMM_NULL ? nullptr : new EmulatedCommunicator{part, {}};
  return result(status);
}

/// As NCCL's it waits for the other ranks.
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  write_starts();
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
  if (--depth > 0 || (open.messages.empty() && open.collectives.empty()))
    return ncclSuccess;
  const cudaStream_t stream = open.stream;
  submit(stream, [group = std::exchange(open, {})] { run(group); });
  return ncclSuccess;
}

ncclResult_t ncclSend(const void *data, std::size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  return start(stream, [=](Started &group) {
    group.messages.push_back([=](MPI_Request *request) {
      return MPI_Isend(data, int(count), mpi_type(type), peer, 0, comm->comm,
                       request);
    });
  });
}

ncclResult_t ncclRecv(void *data, std::size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  return start(stream, [=](Started &group) {
    group.messages.push_back([=](MPI_Request *request) {
      return MPI_Irecv(data, int(count), mpi_type(type), peer, 0, comm->comm,
                       request);
    });
  });
}

ncclResult_t ncclAllReduce(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  if (!reduces(type))
    return ncclInvalidUsage;
  return start_collective(comm, stream, [=] {
    expect_symmetric(comm, from);
    expect_symmetric(comm, to);
    expect(MPI_Allreduce(from == to ? MPI_IN_PLACE : from, to, int(count),
                         mpi_type(type), mpi_op(op), comm->comm));
  });
}

ncclResult_t ncclAllGather(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return start_collective(comm, stream, [=] {
    expect_symmetric(comm, from);
    expect_symmetric(comm, to);
    expect(MPI_Allgather(from, int(count), mpi_type(type), to, int(count),
                         mpi_type(type), comm->comm));
  });
}

ncclResult_t ncclReduceScatter(const void *from, void *to, std::size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  if (!reduces(type))
    return ncclInvalidUsage;
  return start_collective(comm, stream, [=] {
    expect_symmetric(comm, from);
    expect_symmetric(comm, to);
    expect(MPI_Reduce_scatter_block(from, to, int(count), mpi_type(type),
                                    mpi_op(op), comm->comm));
  });
}

ncclResult_t ncclBroadcast(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  if (from != to)
    return ncclInvalidUsage;
  return start_collective(comm, stream, [=] {
    expect_symmetric(comm, to);
    expect(MPI_Bcast(to, int(count), mpi_type(type), root, comm->comm));
  });
}
