//===- emulated_windows.h - NCCL's windows, looked after --------*- C++ -*-===//
#ifndef FFRT_EMULATED_WINDOWS_H
#define FFRT_EMULATED_WINDOWS_H

#include "nccl.h"

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <vector>

/// Memory that a communicator has registered.
struct ncclWindow_vidmem {
  const char *data;
  std::size_t bytes;
};

struct EmulatedCommunicator {
  MPI_Comm comm;
  std::vector<std::unique_ptr<ncclWindow_vidmem>> windows;
};

namespace ffrt::emulated {

/// Is FFRT_EMULATED_NCCL this word?
bool is_nccl(const char *word);
/// Never returns if it is.
void stop_if_nccl(const char *word);

/// Collective: ends all ranks if `buffer` lies in a window of some, but not in
/// the same one at the same offset of all.
void expect_symmetric(ncclComm_t comm, const void *buffer);
/// Collective: ends all ranks if `count` is not the same on all.
void expect_as_many(ncclComm_t comm, int64_t count);

} // namespace ffrt::emulated

#endif // FFRT_EMULATED_WINDOWS_H
