//===- target.cpp - memory of the host as that of the device --------------===//
#include "common/device/target.h"

#include "ffrt/error.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <sys/mman.h>

namespace ffrt {

bool target_is_host() { return true; }

std::shared_ptr<void> allocate(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
  void *map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    throw Error("cannot allocate " + std::to_string(bytes) + " bytes");
  // Fewer page faults in the first step; a refusal does no harm.
  madvise(map, bytes, MADV_HUGEPAGE);
  return {map, [bytes](void *memory) { munmap(memory, bytes); }};
}

void write_target(void *to, const void *from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void read_target(void *to, const void *from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

std::shared_ptr<void> host_memory(std::size_t bytes) { return allocate(bytes); }

void start_reading(void *to, const void *from, std::size_t bytes) {
  read_target(to, from, bytes);
}

void finish_target() {}

DeviceComm make_device_comm(Comm &, const Group &) { return {}; }

void begin_plans(Comm &, const Group &) {}
bool agree_on_plans(Comm &, const Group &) { return true; }

} // namespace ffrt
