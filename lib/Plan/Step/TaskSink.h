//===- TaskSink.h - where planned tasks go ----------------------*- C++ -*-===//
//
// Internal to Plan. What the planner decides is written once and received by
// two: the builder of a program, which keeps every action and buffer, and the
// timer of a segment, which keeps durations only.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TASKSINK_H
#define FFC_LIB_PLAN_TASKSINK_H

#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Graph.h"
#include "ffc/Plan/Program.h"

#include <string>
#include <vector>

namespace ffc::plan {

class TaskSink {
public:
  virtual ~TaskSink() = default;

  /// Names are unique per device afterwards.
  virtual BufferId addBuffer(DeviceId device, ValueId value,
                             const std::string &name, const TensorType &type,
                             const Region &region, MemoryOrder order,
                             Section section) = 0;

  /// A phase of an operator on one point. Buffers by slot read and written, in
  /// the order of the phase; -1 absent.
  struct Kernel {
    DeviceId device;
    TaskId task;
    const Phase &phase;
    const Tile &tile;
    const std::vector<BufferId> &ins, &outs;
    const std::vector<int> &addsTo; ///< KernelAction::addsTo
    int devices;                    ///< KernelAction::devices
  };
  virtual void kernel(const Kernel &kernel) = 0;

  /// Copies `box` from one buffer to another on the device, or combines it into
  /// what is there. It lies within one piece of both.
  struct Copy {
    DeviceId device = -1;
    int devices = 1; ///< CopyAction::devices
    BufferId dst = -1, src = -1;
    Box box;
    Reduction combine = Reduction::None;
    bool accumulates = false; ///< CopyAction::accumulates
  };
  virtual void copy(const Copy &copy, TaskId task, const std::string &name) = 0;

  /// Waits that are still to be done, with what they wait for.
  struct Wait {
    DeviceId device = -1;
    int event = -1; ///< index of the action
    ReshardTask task;
  };
  using Waits = std::vector<Wait>;

  /// Whole buffers that change places all at once; everyone waits for his. If
  /// `later` is given nobody waits; who has to is added to it.
  struct Sent {
    DeviceId src = -1, dst = -1; ///< distinct
    BufferId from = -1, to = -1; ///< on them
  };
  /// `busy` is what CostModel::exchange() has found for them.
  using Busy = std::vector<std::pair<DeviceId, Picoseconds>>;
  virtual void exchange(const std::vector<Sent> &messages, const Busy &busy,
                        ReshardTask task, const std::string &name,
                        Waits *later = nullptr) = 0;

  /// Collectives of one kind, all at once; every member waits for its own.
  struct Collective {
    CollectiveKind kind = CollectiveKind::AllReduce;
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::Library;
    /// Of CollectiveAlgorithm::Schedule.
    std::shared_ptr<const CollectiveSchedule> schedule;
    std::vector<DeviceId> members;  ///< ascending
    std::vector<BufferId> src, dst; ///< by member
    int root = 0;
    Reduction combine = Reduction::None;
  };
  /// `task` is that of the first. If `later` is given nobody waits; who has to
  /// is added to it.
  virtual void collectives(const std::vector<Collective> &all, ReshardTask task,
                           const std::string &name, Waits *later = nullptr) = 0;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TASKSINK_H
