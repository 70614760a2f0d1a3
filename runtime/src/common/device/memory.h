//===- memory.h - state and arena memory of a rank --------------*- C++ -*-===//
#ifndef FFRT_COMMON_MEMORY_H
#define FFRT_COMMON_MEMORY_H

#include "common/device/target.h"
#include "ffrt/program.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ffrt {

/// Exactly the planned bytes of the device's memory, zeroed, between two guard
/// zones that no kernel may touch. Throws Error when there is not enough.
class GuardedMemory {
public:
  explicit GuardedMemory(int64_t bytes,
                         const Allocate &allocate = ffrt::allocate);

  std::byte *data() const;
  /// False when a byte next to the planned ones was written.
  bool intact() const;

private:
  std::byte *base() const { return static_cast<std::byte *>(memory.get()); }

  std::size_t bytes;
  std::shared_ptr<void> memory;
};

/// The memory of a section, guarded.
class SectionMemory {
public:
  /// `symmetric` of all `bytes` come from `allocate_symmetric`, if it is not
  /// null.
  SectionMemory(int64_t bytes, int64_t symmetric,
                const Allocate &allocate_symmetric);

  Section section() const;
  bool intact() const;

private:
  int64_t symmetric_bytes;
  std::unique_ptr<GuardedMemory> symmetric; ///< null: there is no such part
  GuardedMemory rest;
};

/// Memory of the device of use to others than steps, while none runs.
struct IdleMemory {
  void *data;
  int64_t bytes;
};

} // namespace ffrt

#endif // FFRT_COMMON_MEMORY_H
