//===- ProgramBuilder.h - appends actions and buffers -----------*- C++ -*-===//
//
// Internal to the planner: a Program under construction, and the rendering of a
// planned reshard into copies, exchanges and collectives.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_PROGRAMBUILDER_H
#define FFC_LIB_PLAN_PROGRAMBUILDER_H

#include "ffc/Plan/Reshard.h"

#include <map>
#include <string>

namespace ffc::plan {

class ProgramBuilder {
public:
  explicit ProgramBuilder(int numDevices);

  DeviceProgram &device(DeviceId id) { return program.devices[id]; }

  /// A new buffer. `name` gets a number if the device has one of that name, so
  /// that devices with equal histories have equal names. An empty name stays
  /// empty: plans that are only timed have none.
  BufferId addBuffer(DeviceId device, ValueId value, const std::string &name,
                     const TensorType &type, const Region &region,
                     MemoryOrder order, Section section);
  void addAction(DeviceId device, Action action);
  /// Copies or combines the whole of `src` into `dst`, which holds the same
  /// box.
  void addCopy(DeviceId device, BufferId dst, BufferId src, Reduction combine,
               TaskId task, const std::string &name);
  /// A wait for the device's last action.
  void addWait(DeviceId device, TaskId task, const std::string &name);
  /// The communicator of `members` (ascending), created on first use.
  GroupId group(const std::vector<DeviceId> &members);

  Program program;
  int nextTag = 0;

private:
  std::vector<std::map<std::string, int>> names;
  std::map<std::vector<DeviceId>, GroupId> groups;
};

/// Renders one reshard. After `apply` every target is among the holdings, and
/// groups that were reduced in place are gone.
class ReshardBuilder {
public:
  ReshardBuilder(ProgramBuilder &build, ValueId value, const TensorType &type,
                 const std::string &name, TaskId task)
      : build(build), value(value), type(type), name(name), task(task) {}

  void apply(const ReshardPlan &plan, std::vector<Holding> &holdings,
             std::vector<PartialGroup> &groups,
             const std::vector<Need> &targets);

private:
  void collective(const CollectiveStep &step, std::vector<Holding> &holdings,
                  const std::vector<PartialGroup> &groups,
                  const std::vector<Need> &targets);
  void transfers(const ReshardPlan &plan, const std::vector<Holding> &holdings,
                 const std::vector<PartialGroup> &groups,
                 const std::vector<Need> &targets);
  BufferId targetBuffer(int t, const std::vector<Need> &targets);
  BufferId staging(DeviceId device, const char *suffix, const Box &box,
                   MemoryOrder order);
  Action copyAction(BufferId dst, const Region &dstRegion, BufferId src,
                    const Region &srcRegion, const Box &box, Reduction combine);

  ProgramBuilder &build;
  ValueId value;
  const TensorType &type;
  const std::string &name;
  TaskId task;
  std::map<int, BufferId> buffers; ///< of targets filled so far
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_PROGRAMBUILDER_H
