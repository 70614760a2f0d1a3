//===- emulated_nccl.cpp - NCCL's operations over MPI ---------------------===//
#include "nccl.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mpi.h>
#include <utility>
#include <vector>

using ffrt::emulated::submit;

struct EmulatedWindow {
  const std::byte *begin;
  std::size_t bytes;
};

struct EmulatedCommunicator {
  MPI_Comm comm;
  ncclWindow_t window = nullptr;
};

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

std::size_t size_of(ncclDataType_t type) {
  int bytes = 0;
  MPI_Type_size(mpi_type(type), &bytes);
  return std::size_t(bytes);
}

std::size_t members(ncclComm_t comm) {
  int count = 0;
  MPI_Comm_size(comm->comm, &count);
  return std::size_t(count);
}

MPI_Op mpi_op(ncclRedOp_t op) { return op == ncclSum ? MPI_SUM : MPI_MAX; }

/// Memory of ncclMemAlloc(): where it begins and ends.
std::map<const std::byte *, const std::byte *> shareable;

constexpr std::size_t kPage = 4096;

/// Where `data` lies in the window, if all of it does; -1: nowhere in it; -2:
/// across its border.
int64_t offset_in(ncclWindow_t window, const void *data, std::size_t bytes) {
  const auto *from = static_cast<const std::byte *>(data);
  const std::byte *end = window->begin + window->bytes;
  if (from + bytes <= window->begin || from >= end)
    return -1;
  return from >= window->begin && from + bytes <= end ? from - window->begin
                                                      : -2;
}

/// Ends all ranks if operands are not where kernels of the window's
/// communicator look for them. Collective.
void expect_symmetric(ncclComm_t comm, const void *from, std::size_t from_bytes,
                      const void *to, std::size_t to_bytes) {
  if (!comm->window)
    return;
  int64_t least[] = {offset_in(comm->window, from, from_bytes),
                     offset_in(comm->window, to, to_bytes)};
  int64_t most[] = {least[0], least[1]};
  MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_INT64_T, MPI_MIN, comm->comm);
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, comm->comm);
  if (least[0] == most[0] && least[1] == most[1] && least[0] > -2 &&
      least[1] > -2)
    return;
  std::fprintf(
      stderr,
      "error: NCCL: expected the operands of a collective at the same "
      "offsets of the window, found %lld to %lld and %lld to %lld\n",
      static_cast<long long>(least[0]), static_cast<long long>(most[0]),
      static_cast<long long>(least[1]), static_cast<long long>(most[1]));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

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

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                              int rank) {
  int found_ranks = 0, found_rank = 0;
  MPI_Comm world;
  const int status = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_size(world, &found_ranks);
  MPI_Comm_rank(world, &found_rank);
  *comm = new EmulatedCommunicator{world, nullptr};
  const bool fits =
      found_ranks == ranks && found_rank == rank && id.internal[0] == 1;
  return fits ? result(status) : ncclInvalidUsage;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t *split, ncclConfig_t *) {
  MPI_Comm part;
  const int status =
      MPI_Comm_split(comm->comm, color < 0 ? MPI_UNDEFINED : color, key, &part);
  *split =
      part == MPI_COMM_NULL ? nullptr : new EmulatedCommunicator{part, nullptr};
  return result(status);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  MPI_Comm_free(&comm->comm);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t) { return ncclSuccess; }

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *status) {
  *status = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void **memory, std::size_t bytes) {
  *memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (!*memory)
    return ncclInvalidUsage;
  const auto *begin = static_cast<const std::byte *>(*memory);
  shareable[begin] = begin + bytes;
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void *memory) {
  shareable.erase(static_cast<const std::byte *>(memory));
  std::free(memory);
  return ncclSuccess;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *memory,
                                    std::size_t bytes, ncclWindow_t *window,
                                    int flags) {
  const auto *begin = static_cast<const std::byte *>(memory);
  auto after = shareable.upper_bound(begin);
  const bool known = after != shareable.begin() &&
                     begin + bytes <= std::prev(after)->second &&
                     reinterpret_cast<std::uintptr_t>(begin) % kPage == 0;
  uint64_t least = bytes, most = bytes;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UINT64_T, MPI_MIN, comm->comm);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, comm->comm);
  if (!known || least != most || comm->window ||
      flags != NCCL_WIN_COLL_SYMMETRIC)
    return ncclInvalidUsage;
  *window = comm->window = new EmulatedWindow{begin, bytes};
  return ncclSuccess;
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  if (window != comm->window)
    return ncclInvalidUsage;
  comm->window = nullptr;
  delete window;
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
  const std::size_t bytes = count * size_of(type);
  submit(stream, [=] {
    expect_symmetric(comm, from, bytes, to, bytes);
    expect(MPI_Allreduce(from == to ? MPI_IN_PLACE : from, to, int(count),
                         mpi_type(type), mpi_op(op), comm->comm));
  });
  return ncclSuccess;
}

ncclResult_t ncclAllGather(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  const std::size_t bytes = count * size_of(type);
  submit(stream, [=] {
    expect_symmetric(comm, from, bytes, to, bytes * members(comm));
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
  const std::size_t bytes = count * size_of(type);
  submit(stream, [=] {
    expect_symmetric(comm, from, bytes * members(comm), to, bytes);
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
  const std::size_t bytes = count * size_of(type);
  submit(stream, [=] {
    expect_symmetric(comm, from, bytes, to, bytes);
    expect(MPI_Bcast(to, int(count), mpi_type(type), root, comm->comm));
  });
  return ncclSuccess;
}
