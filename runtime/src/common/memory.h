//===- memory.h - state and arena memory of a rank --------------*- C++ -*-===//
#ifndef FFRT_COMMON_MEMORY_H
#define FFRT_COMMON_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace ffrt {

/// Exactly the planned bytes of the device's memory, zeroed, between two guard
/// zones of a page that no kernel may touch. Throws Error when there is not
/// enough.
class GuardedMemory {
public:
  using Allocate = std::function<std::shared_ptr<void>(std::size_t bytes)>;

  explicit GuardedMemory(int64_t bytes);
  /// Of what `allocate` gives, as ffrt::allocate() does (common/target.h).
  GuardedMemory(int64_t bytes, const Allocate &allocate);

  std::byte *data() const;
  /// False when a byte next to the planned ones was written.
  bool intact() const;

private:
  std::byte *base() const { return static_cast<std::byte *>(memory.get()); }

  std::size_t bytes;
  std::shared_ptr<void> memory;
};

} // namespace ffrt

#endif // FFRT_COMMON_MEMORY_H
