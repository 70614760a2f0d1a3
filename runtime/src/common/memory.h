//===- memory.h - state and arena memory of a rank --------------*- C++ -*-===//
#ifndef FFRT_COMMON_MEMORY_H
#define FFRT_COMMON_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace ffrt {

/// Exactly the planned bytes, zeroed, between two guard zones that no kernel
/// may touch. Throws Error when the system has not enough.
class GuardedMemory {
public:
  explicit GuardedMemory(int64_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  std::byte *data() const { return base + kGuard; }
  /// False when a byte next to the planned ones was written.
  bool intact() const;

private:
  static constexpr std::size_t kGuard = 4096;
  std::byte *base;
  std::size_t bytes, mapped;
};

} // namespace ffrt

#endif // FFRT_COMMON_MEMORY_H
