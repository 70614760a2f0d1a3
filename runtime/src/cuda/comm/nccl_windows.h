//===- nccl_windows.h - memory that GPUs of a group share -------*- C++ -*-===//
#ifndef FFRT_CUDA_NCCL_WINDOWS_H
#define FFRT_CUDA_NCCL_WINDOWS_H

#include <nccl.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace ffrt::cuda {

/// Memory that communicators register, so that kernels of NCCL read and write
/// that of other ranks where it is. Where a machine cannot do so, NCCL treats
/// it as any other memory.
class NcclWindows {
public:
  /// False where NCCL is older than windows.
  static bool are_known();

  /// Requires are_known(). Zeroed. Every rank allocates as much in the same
  /// order, and frees it after close(). Throws Error when there is not enough.
  std::shared_ptr<void> allocate(std::size_t bytes);
  /// Of all that was allocated. Collective in the communicator.
  ncclResult_t open(ncclComm_t communicator);
  /// Before communicators are destroyed.
  void close();

private:
  struct Memory {
    void *data;
    std::size_t bytes;
  };
  struct Window {
    ncclComm_t communicator;
    void *window; ///< an ncclWindow_t
  };
  std::vector<Memory> memory;
  std::vector<Window> windows;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_NCCL_WINDOWS_H
