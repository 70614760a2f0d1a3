//===- nccl_windows.cpp - memory that GPUs of a group share ---------------===//
#include "cuda/comm/nccl_windows.h"

#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"

#include <string>

namespace ffrt::cuda {

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)

bool NcclWindows::are_known() { return true; }

std::shared_ptr<void> NcclWindows::allocate(std::size_t bytes) {
  const cudaStream_t stream = device().stream();
  void *data = nullptr;
  if (ncclMemAlloc(&data, bytes) != ncclSuccess)
    throw Error("cannot allocate " + std::to_string(bytes) +
                " bytes on the GPU");
  std::shared_ptr<void> owned(data, [](void *m) { ncclMemFree(m); });
  check(cudaMemsetAsync(data, 0, bytes, stream), "cudaMemsetAsync");
  memory.push_back({data, bytes});
  return owned;
}

ncclResult_t NcclWindows::open(ncclComm_t communicator) {
  for (const Memory &m : memory) {
    // It stays null where the machine cannot share memory.
    ncclWindow_t window = nullptr;
    const ncclResult_t status = ncclCommWindowRegister(
        communicator, m.data, m.bytes, &window, NCCL_WIN_COLL_SYMMETRIC);
    if (status != ncclSuccess)
      return status;
    if (window)
      windows.push_back({communicator, window});
  }
  return ncclSuccess;
}

void NcclWindows::close() {
  for (const Window &w : windows)
    ncclCommWindowDeregister(w.communicator,
                             static_cast<ncclWindow_t>(w.window));
  windows.clear();
}

#else

bool NcclWindows::are_known() { return false; }

std::shared_ptr<void> NcclWindows::allocate(std::size_t) {
  throw Error("expected NCCL 2.27 or later, found an older one");
}

ncclResult_t NcclWindows::open(ncclComm_t) { return ncclSuccess; }

void NcclWindows::close() {}

#endif

} // namespace ffrt::cuda
