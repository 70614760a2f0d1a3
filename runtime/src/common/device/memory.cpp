//===- memory.cpp - state and arena memory of a rank ----------------------===//
#include "common/device/memory.h"

#include <algorithm>
#include <array>

namespace ffrt {

namespace {
constexpr std::size_t kGuard = 4096;
constexpr std::byte kPattern{0xA5};
using Guard = std::array<std::byte, kGuard>;
} // namespace

GuardedMemory::GuardedMemory(int64_t planned, const Allocate &allocate)
    : bytes(std::size_t(planned)), memory(allocate(bytes + 2 * kGuard)) {
  Guard guard;
  guard.fill(kPattern);
  write_target(base(), guard.data(), kGuard);
  write_target(base() + kGuard + bytes, guard.data(), kGuard);
}

std::byte *GuardedMemory::data() const { return base() + kGuard; }

bool GuardedMemory::intact() const {
  auto untouched = [](const std::byte *from) {
    Guard guard;
    read_target(guard.data(), from, kGuard);
    return std::all_of(guard.begin(), guard.end(),
                       [](std::byte b) { return b == kPattern; });
  };
  return untouched(base()) && untouched(base() + kGuard + bytes);
}

SectionMemory::SectionMemory(int64_t bytes, int64_t planned_symmetric,
                             const Allocate &allocate_symmetric)
    : symmetric_bytes(allocate_symmetric ? planned_symmetric : 0),
      symmetric(symmetric_bytes > 0 ? std::make_unique<GuardedMemory>(
                                          symmetric_bytes, allocate_symmetric)
                                    : nullptr),
      rest(bytes - symmetric_bytes) {}

Section SectionMemory::section() const {
  return {symmetric ? symmetric->data() : nullptr, rest.data(),
          symmetric_bytes};
}

bool SectionMemory::intact() const {
  return (!symmetric || symmetric->intact()) && rest.intact();
}

} // namespace ffrt
