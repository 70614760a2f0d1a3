//===- emulated_memory.h - memory of the device -----------------*- C++ -*-===//
//
// The host can neither read nor write it, as on a GPU: a process that tries
// ends with a message. It is open while the device works.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_EMULATED_MEMORY_H
#define FFRT_EMULATED_MEMORY_H

#include <cstddef>

namespace ffrt::emulated {

/// Zeroed, at the beginning of a page; null when there is not enough.
void *allocate(std::size_t bytes);
void free(void *memory);

/// While one exists, the device works.
class OpenMemory {
public:
  OpenMemory();
  ~OpenMemory();
  OpenMemory(const OpenMemory &) = delete;
  OpenMemory &operator=(const OpenMemory &) = delete;
};

} // namespace ffrt::emulated

#endif // FFRT_EMULATED_MEMORY_H
