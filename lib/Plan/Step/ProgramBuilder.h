//===- ProgramBuilder.h - appends actions and buffers -----------*- C++ -*-===//
//
// Internal to the planner: a Program under construction.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_PROGRAMBUILDER_H
#define FFC_LIB_PLAN_PROGRAMBUILDER_H

#include "TaskSink.h"

#include <map>
#include <string>
#include <unordered_map>

namespace ffc::plan {

class ProgramBuilder : public TaskSink {
public:
  ProgramBuilder(const Graph &graph, int numDevices);

  DeviceProgram &device(DeviceId id) { return program.devices[id]; }

  /// `name` gets a number if the device has a buffer of that name, so that
  /// devices with equal histories have equal names.
  BufferId addBuffer(DeviceId device, ValueId value, const std::string &name,
                     const TensorType &type, const Region &region,
                     MemoryOrder order, Section section) override;
  void kernel(const Kernel &kernel) override;
  void copy(const Copy &copy, TaskId task, const std::string &name) override;
  void exchange(const std::vector<Sent> &messages, const Busy &busy,
                ReshardTask task, const std::string &name,
                Waits *later) override;
  void collectives(const std::vector<Collective> &all, ReshardTask task,
                   const std::string &name, Waits *later) override;
  /// Until endBatch(), calls of collectives() are about equal groups and start
  /// as one: the first collectives of all calls, then the second ones, and so
  /// on. `later` is written to at the end.
  void beginBatch() { isBatching = true; }
  void endBatch();
  /// Returns its index on the device.
  int addAction(DeviceId device, Action action);
  void wait(const Waits &waits, const std::string &name);

  Program program;

private:
  struct Call {
    std::vector<Collective> all;
    ReshardTask task; ///< of the first
    std::string name;
    Waits *later;
  };
  void collectives(const std::vector<Call> &calls, bool isBatch);
  /// Appends collective number `index` of a call.
  Waits addCollective(const Call &call, size_t index, int together, int batch);
  /// In Program::schedules; -1 for null.
  int scheduleNumber(const std::shared_ptr<const CollectiveSchedule> &schedule);
  /// The communicator of `members` (ascending), created on first use.
  GroupId group(const std::vector<DeviceId> &members);

  const Graph &graph;
  int nextTag = 0;
  bool isBatching = false;
  std::vector<Call> batch;
  std::vector<std::unordered_map<std::string, int>> names;
  std::map<std::vector<DeviceId>, GroupId> groups;
  std::map<const CollectiveSchedule *, int> scheduleNumbers;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_PROGRAMBUILDER_H
