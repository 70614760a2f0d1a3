//===- memory.cpp - state and arena memory of a rank ----------------------===//
#include "common/memory.h"

#include "ffrt/error.h"

#include <algorithm>
#include <sys/mman.h>

namespace ffrt {

namespace {
constexpr std::byte kPattern{0xA5};
} // namespace

GuardedMemory::GuardedMemory(int64_t planned)
    : bytes(std::size_t(planned)), mapped(bytes + 2 * kGuard) {
  void *map = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    throw Error("cannot allocate " + std::to_string(planned) + " bytes");
  // Fewer page faults in the first step; a refusal does no harm.
  madvise(map, mapped, MADV_HUGEPAGE);
  base = static_cast<std::byte *>(map);
  std::fill_n(base, kGuard, kPattern);
  std::fill_n(base + kGuard + bytes, kGuard, kPattern);
}

GuardedMemory::~GuardedMemory() { munmap(base, mapped); }

bool GuardedMemory::intact() const {
  auto untouched = [](const std::byte *from) {
    return std::all_of(from, from + kGuard,
                       [](std::byte b) { return b == kPattern; });
  };
  return untouched(base) && untouched(base + kGuard + bytes);
}

} // namespace ffrt
