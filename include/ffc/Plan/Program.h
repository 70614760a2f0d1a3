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

#include "ffc/Plan/Configuration.h"

#include <string>
#include <vector>

namespace ffc::plan {

using BufferId = int32_t; ///< index into DeviceProgram::buffers
using GroupId = int32_t;  ///< index into Program::groups

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

/// The identity of a task, the same in simulator, `rank` and the program's log.
/// Reshards belong to the operator and operand that first needs them.
struct TaskId {
  OpId op = -1; ///< the operator computed, or the first consumer served
  int phase = 0;
  /// Grid point; in a reshard the value's number, or minus the slot of an
  /// operator's internal tensor.
  int point = 0;
  /// 0: the kernel. 1, 2, ...: the steps of a reshard. -1: the addition of the
  /// point's partial result to that of an earlier point on the device. -2: the
  /// copy of a result to the state, `point`, that it is stored in. -3: the
  /// addition of value `point` to those of earlier passes.
  int instance = 0;
  bool operator==(const TaskId &o) const {
    return op == o.op && phase == o.phase && point == o.point &&
           instance == o.instance;
  }
};

/// One message of an exchange: the whole contiguous buffer.
struct Message {
  DeviceId peer = -1;
  BufferId buffer = -1;
};

enum class CollectiveKind { AllReduce, AllGather, ReduceScatter, Broadcast };

struct Action {
  enum class Kind {
    Kernel,     ///< a phase of `task.op` on grid point `task.point`
    Copy,       ///< box copy, or combination into the destination
    Exchange,   ///< grouped sends and receives, asynchronous
    Collective, ///< asynchronous
    Wait,       ///< for the exchange or collective at index `event`
    Probe,      ///< offers a buffer for dumping
  };
  Kind kind = Kind::Kernel;
  TaskId task;
  std::string name; ///< "conv2", "conv2.x <- pool1.y"; for text and reports

  /// Kernel, Copy: on how many devices, this one included, the operator or the
  /// step of the reshard has such work. They share what their node has.
  int devices = 1;

  /// Kernel: the phase's runtime kernel (Phase::kernel), and what of the
  /// operator it computes (Phase::kind).
  std::string kernel;
  PhaseKind part = PhaseKind::All;
  /// One per slot read or written by the phase, in its order; -1 absent.
  std::vector<BufferId> ins, outs;
  Tile tile;

  /// Copy: boxes of equal size in local coordinates. `combine` None copies.
  BufferId dst = -1, src = -1;
  Shape dstAt, srcAt, size;
  Reduction combine = Reduction::None;
  /// `dst`, in the state, gets the mean of `src` over the passes of a step.
  bool accumulates = false;

  /// Exchange.
  int tag = 0;
  std::vector<Message> sends, receives;

  /// Collective. AllReduce and Broadcast use `src` in place; AllGather reads
  /// `src` and writes `dst`; ReduceScatter the reverse roles of sizes. What
  /// reduces does so with `combine`.
  CollectiveKind collective = CollectiveKind::AllReduce;
  GroupId group = -1;
  int together = -1; ///< index into Program::together
  int batch = -1;    ///< index into Program::batches; -1: on its own
  int root = 0;      ///< index into the group's members

  int event = -1; ///< Wait

  std::string probe; ///< Probe: Output::name; the buffer is `src`
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
  /// The first so many are what a step does once for every pass of
  /// Graph::passes, the others come after the last pass.
  int passActions = 0;
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
                               const Action &action) {
  return collectiveBytes(device.buffers[action.src].bytes,
                         device.buffers[action.dst].bytes);
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
  /// Collectives of one kind, group and element type that follow each other in
  /// `order` and start as one. Only times depend on it.
  struct Batch {
    TaskId first;
    int64_t bytes = 0; ///< of the whole tensors, added up
  };
  std::vector<Batch> batches;
  /// The first so many bytes of every device's state and arena are the
  /// *symmetric* part (SymmetricSection.h).
  int64_t symmetricState = 0, symmetricArena = 0;

  int64_t symmetricBytes(Section section) const {
    return section == Section::State ? symmetricState : symmetricArena;
  }
};

/// How many actions of `order`, the first ones, are those of passes.
size_t numPassActions(const Program &program);

/// "conv2#0@3.1": operator, phase, point, instance.
std::string str(const TaskId &task, const Graph &graph);

} // namespace ffc::plan

#endif // FFC_PLAN_PROGRAM_H
