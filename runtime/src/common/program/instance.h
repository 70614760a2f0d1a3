//===- instance.h - a rank's program, ready to run --------------*- C++ -*-===//
#ifndef FFRT_COMMON_INSTANCE_H
#define FFRT_COMMON_INSTANCE_H

#include "common/device/memory.h"
#include "common/device/target.h"
#include "common/profiling/traced_comm.h"
#include "common/program/initial.h"
#include "ffrt/program.h"

#include <memory>
#include <vector>

namespace ffrt {

/// A rank's program with its memory.
class Instance {
public:
  /// Collective. `trace`, if not null, is prepared for the program's tasks.
  /// `second`, if not null, is a program that is to share the memory. Throws
  /// Stop after an error on any rank. All arguments must outlive it.
  Instance(Context &context, Comm &comm, const Group &world, Probe &probe,
           const ProgramInfo &info, MakeProgram make, Trace *trace = nullptr,
           const ProgramInfo *second = nullptr);

  /// Collective: a second program with the state of `first`, which has room for
  /// both, and its arena while that one does nothing. What it has of the state
  /// besides gets its initial values. Throws Stop.
  Instance(Instance &first, Context &context, Probe &probe,
           const ProgramInfo &info, MakeProgram make, const Saved &saved);

  /// Collective: gives the state its initial values. Throws Stop.
  void initialise(const Saved &saved = {});

  RankProgram &program() { return *made; }
  const std::vector<StateSlot> &states() const { return state_slots; }
  const std::vector<InputSlot> &inputs() const { return input_slots; }
  /// The input of every slot, as an index into ProgramInfo::inputs.
  const std::vector<std::size_t> &input_numbers() const { return numbers; }

  /// Of the steps that follow; null: nobody looks.
  void set_check(ResultCheck *check) { host->check = check; }

  /// Communication of what is in the device's memory.
  Comm &device_communication() const {
    return device_comm.comm ? *device_comm.comm : comm;
  }
  /// The larger part of the arena, as much of it as all ranks have.
  IdleMemory idle_memory(const ProgramInfo &info) const;

  bool replays() const { return device_comm.replays; }
  /// To be called after a replay was started.
  void watch_replay() const {
    if (device_comm.watch_replay)
      device_comm.watch_replay();
  }

  /// Collective. Throws Stop when a kernel wrote next to its buffers.
  void check_guards();

private:
  void make_program(MakeProgram make, const ProgramInfo &info);

  Context &context;
  Comm &comm;
  const Group &world;
  const WeightsPlace weights;
  /// Outlive communication; null: they are the first program's.
  std::unique_ptr<SectionMemory> state, arena;
  int64_t state_bytes = 0, symmetric_state = 0; ///< planned
  DeviceComm device_comm;
  std::unique_ptr<TracedComm> traced;
  std::unique_ptr<Host> host; ///< the program keeps a reference
  std::unique_ptr<RankProgram> made;
  std::vector<StateSlot> state_slots;
  std::vector<InputSlot> input_slots;
  std::vector<std::size_t> numbers;
};

} // namespace ffrt

#endif // FFRT_COMMON_INSTANCE_H
