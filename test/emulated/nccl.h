//===- nccl.h - the part of NCCL that the runtime uses, over MPI ----------===//
//
// Stands in for NCCL's header of this name (see cuda_runtime.h). An operation
// waits for the other ranks when its stream comes to it: ranks that do not
// start them in one order wait for each other for ever, as they may with NCCL.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_EMULATED_NCCL_H
#define FFRT_EMULATED_NCCL_H

#include <cuda_runtime.h>

#include <cstddef>

constexpr int NCCL_SPLIT_NOCOLOR = -1;
constexpr int NCCL_WIN_COLL_SYMMETRIC = 1;

enum ncclResult_t { ncclSuccess = 0, ncclInvalidUsage = 5, ncclInProgress = 7 };
enum ncclDataType_t {
  ncclUint8,
  ncclInt32,
  ncclInt64,
  ncclFloat32,
  ncclFloat64,
  ncclBfloat16,
  ncclFloat16
};
enum ncclRedOp_t { ncclSum, ncclMax };
struct ncclUniqueId {
  char internal[128];
};
using ncclComm_t = struct EmulatedCommunicator *;
using ncclWindow_t = struct EmulatedWindow *;
struct ncclConfig_t;

const char *ncclGetErrorString(ncclResult_t);
ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                              int rank);
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t *split, ncclConfig_t *);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *status);
ncclResult_t ncclMemAlloc(void **memory, std::size_t bytes);
ncclResult_t ncclMemFree(void *memory);
/// Every rank of `comm` gives equally many bytes that begin a page of
/// ncclMemAlloc(), once. What a collective of `comm` reads lies in the window,
/// at the same offset on all ranks, or outside on all; so does what it writes.
ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *memory,
                                    std::size_t bytes, ncclWindow_t *window,
                                    int flags);
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclSend(const void *data, std::size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t);
ncclResult_t ncclRecv(void *data, std::size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t);
ncclResult_t ncclAllReduce(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t);
ncclResult_t ncclAllGather(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, ncclComm_t comm, cudaStream_t);
ncclResult_t ncclReduceScatter(const void *from, void *to, std::size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t);
ncclResult_t ncclBroadcast(const void *from, void *to, std::size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t);

#endif // FFRT_EMULATED_NCCL_H
