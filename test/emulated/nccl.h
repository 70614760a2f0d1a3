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
#define NCCL_VERSION(major, minor, patch)                                      \
  ((major)*10000 + (minor)*100 + (patch))
#define NCCL_VERSION_CODE NCCL_VERSION(2, 28, 9)
#define NCCL_WIN_COLL_SYMMETRIC 0x01
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096

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
using ncclWindow_t = struct ncclWindow_vidmem *;
struct ncclConfig_t;

const char *ncclGetErrorString(ncclResult_t);
inline ncclResult_t ncclGetVersion(int *version) {
  *version = 0;
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                              int rank);
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t *split, ncclConfig_t *);
ncclResult_t ncclCommDestroy(ncclComm_t comm);

// Windows are looked after as NCCL wants them, though it does not check all of
// it: the same sizes on all ranks, in memory of ncclMemAlloc, once in a
// communicator, and buffers of a collective at one offset on all ranks. What is
// wrong ends all ranks with a message.
ncclResult_t ncclMemAlloc(void **memory, std::size_t bytes);
ncclResult_t ncclMemFree(void *memory);
ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *data,
                                    std::size_t bytes, ncclWindow_t *window,
                                    int flags);
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window);

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *status);
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
