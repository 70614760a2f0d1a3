//===- StepMemory.h - what a strategy needs on every device -----*- C++ -*-===//
#ifndef FFC_PLAN_STEPMEMORY_H
#define FFC_PLAN_STEPMEMORY_H

#include "ffc/Plan/Segments.h"

#include <vector>

namespace ffc::plan {

/// At least so many bytes are needed on every device, from the segments alone:
/// the state, and the most that buffers hold at once, each from the kernel or
/// reshard that writes it first to the last one that needs it. Never above the
/// bytes of planProgram(), which are exact, and mostly close to them: gaps of
/// the arena are not seen, nor the internal tensors of an operator, and results
/// that may lie where an operand was are taken to do so.
std::vector<int64_t> stepMemory(SegmentTable &table,
                                const std::vector<ConfigId> &configs);

/// Bytes of a device that a strategy hardly exceeds, by a rough count: every
/// value whole, as often as there are devices, where it is made and for each of
/// its readers, and as much again. It is no proof (points of one device may be
/// any number): who goes by it accounts for the answer.
int64_t memoryCeiling(const Graph &graph, int numDevices);

/// What a device's bytes are for.
struct MemoryParts {
  int64_t parameters = 0;  ///< and all else that is kept, rounded copies too
  int64_t optimizer = 0;   ///< what only updates read
  int64_t gradients = 0;   ///< that updates read
  int64_t activations = 0; ///< their gradients, and data

  int64_t total() const {
    return parameters + optimizer + gradients + activations;
  }
};

/// Of the device that needs most by stepMemory(), at the moment when it does.
MemoryParts largestMemory(SegmentTable &table,
                          const std::vector<ConfigId> &configs);

} // namespace ffc::plan

#endif // FFC_PLAN_STEPMEMORY_H
