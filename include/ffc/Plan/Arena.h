//===- Arena.h - offsets for buffers by lifetime ----------------*- C++ -*-===//
#ifndef FFC_PLAN_ARENA_H
#define FFC_PLAN_ARENA_H

#include "ffc/Plan/Program.h"

#include <vector>

namespace ffc::plan {

/// Alignment of every buffer in bytes.
constexpr int64_t kBufferAlignment = 64;

/// Actions [first, last] of a device during which a buffer's bytes are in use:
/// from the first action that touches it to the last, an asynchronous
/// communication counting until its wait. Inputs are in use from -1 on. A
/// buffer nothing touches has last < first.
struct Lifetime {
  int first = 0, last = -1;
  bool overlaps(const Lifetime &o) const {
    return first <= o.last && o.first <= last;
  }
  bool operator==(const Lifetime &o) const {
    return first == o.first && last == o.last;
  }
};

/// Lifetimes of all buffers of `device` (State buffers included). The loss is
/// read after the last action.
std::vector<Lifetime> lifetimesOf(const DeviceProgram &device);

/// A kernel's result that may lie exactly where one of its operands did.
struct Overwrite {
  BufferId result = -1, operand = -1;
};

/// Which buffers of a device may lie in one place.
struct SharedPlaces {
  /// By buffer: the buffer whose bytes it has, which lies where it does
  /// (OpRules::keepsBytes); itself for others. Nobody writes either after the
  /// kernel that gives the other shape.
  std::vector<BufferId> base;
  /// By buffer that is its own base: how long its bytes are in use.
  std::vector<Lifetime> lifetimes;
  /// The kernel allows it (OpRules::mayOverwrite), is the last to read the
  /// operand's bytes and the first to write the result, and both have the same
  /// bytes, region, type and order. In the order of actions.
  std::vector<Overwrite> overwrites;
};
SharedPlaces sharedPlacesOf(const Graph &graph, const Strategy &strategy,
                            const DeviceProgram &device);

/// Sets offset of every buffer and each device's stateBytes and arenaBytes. Two
/// arena buffers share bytes only if their lifetimes do not overlap, if one has
/// the other's bytes, or if one overwrites the other. State buffers never
/// share.
void assignOffsets(const Graph &graph, const Strategy &strategy,
                   std::vector<DeviceProgram> &devices);

} // namespace ffc::plan

#endif // FFC_PLAN_ARENA_H
