//===- emulated_windows.cpp - NCCL's windows, looked after ----------------===//
#include "emulated_windows.h"

#include "emulated_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace {

/// Of ncclMemAlloc, by their beginning.
std::map<const char *, std::size_t> allocations;

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "emulated NCCL: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// Collective.
bool is_equal_on_all(ncclComm_t comm, int64_t value) {
  int64_t bounds[2] = {value, -value};
  MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_INT64_T, MPI_MAX, comm->comm);
  return bounds[0] == -bounds[1];
}

bool is_allocated(const char *data, std::size_t bytes) {
  auto after = allocations.upper_bound(data);
  if (after == allocations.begin())
    return false;
  const auto &[begin, size] = *std::prev(after);
  return data + bytes <= begin + size;
}

} // namespace

ncclResult_t ncclMemAlloc(void **memory, std::size_t bytes) {
  // Pages are aligned as windows must be.
  *memory = ffrt::emulated::allocate(bytes);
  if (!*memory)
    return ncclInvalidUsage;
  // No value that programs expect.
  const ffrt::emulated::OpenMemory open;
  std::memset(*memory, 0xC3, bytes);
  allocations[static_cast<const char *>(*memory)] = bytes;
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void *memory) {
  allocations.erase(static_cast<const char *>(memory));
  ffrt::emulated::free(memory);
  return ncclSuccess;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *data,
                                    std::size_t bytes, ncclWindow_t *window,
                                    int flags) {
  ffrt::emulated::stop_if_nccl("stuck-window");
  const char *const begin = static_cast<const char *>(data);
  if (!is_equal_on_all(comm, int64_t(bytes)))
    fail("expected windows of equal size on all ranks");
  if (flags != NCCL_WIN_COLL_SYMMETRIC)
    fail("expected a symmetric window");
  if (reinterpret_cast<std::uintptr_t>(begin) % NCCL_WIN_REQUIRED_ALIGNMENT)
    fail("expected a window at a multiple of 4096");
  if (!is_allocated(begin, bytes))
    fail("expected a window in memory of ncclMemAlloc");
  for (const auto &other : comm->windows)
    if (begin < other->data + other->bytes && other->data < begin + bytes)
      fail("expected memory in one window of a communicator");
  comm->windows.push_back(
      std::make_unique<ncclWindow_vidmem>(ncclWindow_vidmem{begin, bytes}));
  *window = comm->windows.back().get();
  return ncclSuccess;
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  auto &windows = comm->windows;
  auto it = std::find_if(windows.begin(), windows.end(),
                         [&](const auto &own) { return own.get() == window; });
  if (it == windows.end())
    fail("expected a window of the communicator");
  windows.erase(it);
  return ncclSuccess;
}

void ffrt::emulated::expect_symmetric(ncclComm_t comm, const void *buffer) {
  const char *const at = static_cast<const char *>(buffer);
  int64_t place = -1, before = 0;
  for (const auto &window : comm->windows) {
    if (at >= window->data && at < window->data + window->bytes)
      place = before + (at - window->data);
    before += int64_t(window->bytes);
  }
  if (!is_equal_on_all(comm, place))
    fail("expected buffers of a collective at one offset of a window on all "
         "ranks");
}

void ffrt::emulated::expect_as_many(ncclComm_t comm, int64_t count) {
  if (!is_equal_on_all(comm, count))
    fail("expected as many collectives to start as one on all ranks");
}
