//===- Program.h - the tasks of every device, in order ----------*- C++ -*-===//
//
// The planned step: per device one sequence of actions on buffers with fixed
// offsets. The simulator times it, the verifier proves it safe, and the `rank`
// dialect is a rendering of it, so all three see the same tasks, bytes, peers
// and order.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_PROGRAM_H
#define FFC_PLAN_PROGRAM_H

#include "ffc/Plan/Action.h"
#include "ffc/Plan/CollectiveSchedule.h"
#include "ffc/Plan/Configuration.h"

#include <memory>
#include <string>
#include <vector>

namespace ffc::plan {

enum class Section { State, Arena };

/// A dense local tensor at a fixed offset of its section.
struct Buffer {
  std::string name;   ///< "conv2.x", unique within the device
  ValueId value = -1; ///< the global value it holds a part of; -1: staging
  Shape global;       ///< extents of the global tensor
  Region region;      ///< the part it holds; packed, possibly empty
  ElementType type = ElementType::F32;
  MemoryOrder order = MemoryOrder::RowMajor; ///< never Follow
  Section section = Section::Arena;
  int64_t offset = 0; ///< bytes from the start of the section
  int64_t bytes = 0;  ///< exact: elements times element size
};

/// A graph input's part that the runtime fills before each step.
struct InputSlot {
  ValueId value = -1;
  BufferId buffer = -1;
};

/// A state's part on this device.
struct StateSlot {
  StateId state = -1;
  BufferId buffer = -1;
};

struct DeviceProgram {
  std::vector<Buffer> buffers;
  std::vector<Action> actions; ///< in execution order
  /// The first so many are what a step does once for every micro-batch of
  /// Graph::microBatches, the others come after the last micro-batch.
  int microBatchActions = 0;
  std::vector<InputSlot> inputs;
  std::vector<StateSlot> states;
  int64_t stateBytes = 0, arenaBytes = 0;
  double flops = 0;
  /// Buffer that holds the global loss at the end of the step, on device 0 and
  /// wherever else it is; -1: none.
  BufferId loss = -1;
};

/// Size of a collective's whole tensor, from a member's buffers.
inline int64_t collectiveBytes(int64_t src, int64_t dst) {
  return src > dst ? src : dst;
}

inline int64_t collectiveBytes(const DeviceProgram &device,
                               const CollectiveAction &collective) {
  return collectiveBytes(device.buffers[collective.src].bytes,
                         device.buffers[collective.dst].bytes);
}

/// An action of a device.
struct ActionRef {
  DeviceId device = -1;
  int index = -1;
};

struct Program {
  std::vector<DeviceProgram> devices;
  /// All actions in one order that keeps each device's and puts everything
  /// after what it needs, on any device. The members of a collective, and the
  /// parts of an exchange, follow each other.
  std::vector<ActionRef> order;
  /// Members of each communicator, ascending; created in this order.
  std::vector<std::vector<DeviceId>> groups;
  /// The groups of the collectives that one reshard starts at once, and which
  /// share links. Only times depend on it.
  std::vector<std::vector<GroupId>> together;
  /// What collectives by CollectiveAlgorithm::Schedule do; none twice.
  std::vector<std::shared_ptr<const CollectiveSchedule>> schedules;
  /// Collectives of one kind, group and element type that follow each other in
  /// `order`, and on each device, and start as one (Batches.h).
  struct Batch {
    TaskId first;
    int64_t bytes = 0; ///< of the whole tensors, added up
  };
  std::vector<Batch> batches;
  /// The first so many bytes of every device's state and arena are the
  /// *symmetric* part (SymmetricSection.h).
  int64_t symmetricState = 0, symmetricArena = 0;

  const Action &action(ActionRef ref) const {
    return devices[ref.device].actions[ref.index];
  }
  int64_t symmetricBytes(Section section) const {
    return section == Section::State ? symmetricState : symmetricArena;
  }
};

/// How many actions of `order` are one task that begins at `at`: the members of
/// a collective, the parts of an exchange, or an action on its own.
size_t numPartsAt(const Program &program, size_t at);

/// How many actions of `order`, the first ones, are those of micro-batches.
size_t numMicroBatchActions(const Program &program);

} // namespace ffc::plan

#endif // FFC_PLAN_PROGRAM_H
