//===- LocalWork.h - what a kernel or copy does -----------------*- C++ -*-===//
//
// The facts about a task on one device from which its duration follows. They
// are collected in one place, for the simulator, which looks durations up, and
// for the profile, which measures them; so a measured time is found by the very
// text under which it was written.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_LOCALWORK_H
#define FFC_PLAN_LOCALWORK_H

#include "ffc/Plan/Configuration.h"
#include "ffc/Plan/Program.h"
#include "ffc/Plan/Topology.h"

#include <optional>
#include <string>
#include <string_view>

namespace ffc::plan {

/// Names that stand for copies among those of kernels: in one memory order,
/// from one to another, and into what is there.
constexpr std::string_view kCopy = "copy", kReorder = "reorder",
                           kCombine = "combine";

struct LocalWork {
  std::string_view kernel; ///< lives as long as the graph
  /// All that the duration depends on: kernel, attributes, and element type,
  /// local shape and memory order of what is read and written. Where the shapes
  /// lie in global tensors is not part of it. Empty unless asked for.
  std::string key;
  double flops = 0;
  int64_t bytes = 0; ///< read and written
  Arithmetic arithmetic = Arithmetic::F32;
  int64_t parts = 1;             ///< Phase::parts
  bool startsWithOthers = false; ///< Phase::startsWithOthers
  int devices = 1; ///< of the action: what shares the memory takes longer
};

/// A buffer as far as the duration of what works on it depends on it.
struct BufferFacts {
  int64_t bytes = 0;
  ElementType type = ElementType::F32;
  MemoryOrder order = MemoryOrder::RowMajor;
  std::string text; ///< "f32[8,64,27,27]cl"; empty unless keys are asked for
};

/// A phase that reads this type computes in it, whatever it writes: operands
/// may be narrower than their sum.
inline bool decidesArithmetic(ElementType type) {
  return type == ElementType::BF16 || type == ElementType::F16;
}
/// What kernels of `op` compute in, of which such an operand, or else the last
/// result, has this type.
inline Arithmetic arithmeticOf(const Op &op, ElementType type) {
  if (decidesArithmetic(type) && !op.multiplies)
    return Arithmetic::F32;
  return op.roundsOperands && type == ElementType::F32 ? Arithmetic::TF32
                                                       : arithmeticOf(type);
}

/// `shape` is that of what the device holds.
std::string bufferText(ElementType type, const Shape &shape, MemoryOrder order);

/// A phase of `op` on a tile. Buffers by slot of the phase; null: absent.
/// `addsTo` as in KernelAction.
LocalWork kernelWork(const Op &op, const Phase &phase, const Tile &tile,
                     const std::vector<const BufferFacts *> &ins,
                     const std::vector<const BufferFacts *> &outs,
                     const std::vector<int> &addsTo, bool withKey);

/// A copy, or combination, of a box. The key needs its shape; null: no key.
LocalWork copyWork(const BufferFacts &dst, const BufferFacts &src,
                   int64_t elements, bool combines, const Shape *shape);

/// What an action of a program does, if it is a kernel or a copy.
std::optional<LocalWork> workOf(const Graph &graph, const Strategy &strategy,
                                const DeviceProgram &device,
                                const Action &action, bool withKey);

} // namespace ffc::plan

#endif // FFC_PLAN_LOCALWORK_H
