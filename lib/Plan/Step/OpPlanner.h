//===- OpPlanner.h - the tasks of one operator ------------------*- C++ -*-===//
//
// Internal to Plan: appends the kernels of an operator under a configuration,
// and notes which parts of its results are where. How its operands get where
// they are needed is up to the caller.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_OPPLANNER_H
#define FFC_LIB_PLAN_OPPLANNER_H

#include "Graph/MemoryOrders.h"
#include "TaskSink.h"
#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Plan/Reshard.h"

#include <functional>
#include <map>
#include <unordered_map>

namespace ffc::plan {

/// Where the parts of one value are at the current place of the order.
struct Placement {
  Holdings holdings;
  std::vector<PartialGroup> groups;
  bool probed = false;

  /// The buffer that holds exactly `target`, or -1.
  BufferId find(const Need &target) const {
    int found = holdings.find(target);
    return found < 0 ? -1 : holdings[found].buffer;
  }
  /// True if the holdings that are boxes cover a tensor of `shape`.
  bool isComplete(const Shape &shape) const;
};

/// Points of `config` without those that would compute on a device what an
/// earlier point computes there already (replicas on one device).
std::vector<int64_t> distinctPoints(const Op &op, const Configuration &config);

/// Those of them that have a turn of the operator.
std::vector<int64_t> pointsOf(const Op &op, const Configuration &config,
                              const Turn &turn);

/// `needs` without repetitions, in their order.
std::vector<Need> distinctNeeds(const std::vector<Need> &needs);

/// The parts of a result that a turn of its operator writes, each once, in
/// row-major order.
std::vector<Need> writtenIn(const Graph &graph, ValueId value, const Turn &turn,
                            const Configuration &config);

/// Where a state that is updated lives: what its update writes. Each once.
std::vector<Need> homeOf(const Graph &graph, StateId state,
                         const Configuration &update);

/// What of the parts needed is not there yet, and how it gets there.
struct PlannedReshard {
  std::vector<Need> targets;
  ReshardPlan plan;
};
/// Empty parts become holdings at once. `plan` is planReshard or planMessages.
PlannedReshard planReshardTo(TaskSink &sink, const CostModel &cost,
                             Placement &where, ValueId value,
                             const TensorType &type, const std::string &name,
                             const std::vector<Need> &needed,
                             decltype(planReshard) &plan = planReshard);

/// Makes everything needed a holding by a reshard of what there is, the steps
/// of which count from `first`. Returns how many there are.
int reshardTo(TaskSink &sink, const CostModel &cost, Placement &where,
              ValueId value, const TensorType &type, const std::string &name,
              const std::vector<Need> &needed, ReshardTask first);

/// The first read of a value in a turn of an operator, and the reshard's first
/// step.
struct FirstRead {
  ReshardTask first;
  std::vector<Need> needed;
};
FirstRead firstRead(const Graph &graph, const MemoryOrders &orders,
                    ValueId value, const Turn &reader,
                    const Configuration &config);

/// Copies all of each part from one buffer to another.
struct WholeCopy {
  Need part;
  BufferId dst = -1, src = -1;
};
/// What the copies do to what is there, as TaskSink::Copy.
struct CopyKind {
  Reduction combine = Reduction::None;
  bool accumulates = false;
};
void copyWhole(TaskSink &sink, const std::vector<WholeCopy> &copies,
               CopyKind kind, TaskId task, const std::string &name);

/// Buffers of the state that get the mean of all parts over the micro-batches
/// of a step: where what comes after the micro-batches finds the value. Sums
/// are still partial where they were. `task` is that of the additions.
Placement accumulate(TaskSink &sink, const Placement &where, ValueId value,
                     const TensorType &type, const std::string &name,
                     TaskId task);

/// Of the sum that a turn of an operator has made, only the parts `needed`
/// are kept, all of which are there: added to `sum`, what there is of earlier
/// turns, or in its place if there is nothing so far.
void addOwnSum(TaskSink &sink, Placement &sum, const Placement &ofTurn,
               const std::vector<Need> &needed, TaskId task,
               const std::string &name);

/// Who has to get a loss that is in `where`: device 0, and whoever holds a part
/// of the sum, so that ranks which compute the same also communicate the same.
std::vector<Need> lossNeeds(const Placement &where, const TensorType &type);

/// What completes an output that is still partial sums at the end of the step:
/// each sum where its first member is.
std::vector<Need> outputNeeds(const Placement &where);

/// What is made of partial sums before they are sent to turns on other devices:
/// each sum is completed where it was made, so that it is sent once, and nobody
/// has to wait for the sender. Empty if a reader has a part of a sum itself.
std::vector<Need> sumsBeforeSending(const Placement &where,
                                    const std::vector<Need> &needed);

/// A read of an operator that wants its parts, by a reshard from `first` on.
struct OperandRead {
  OpId op;
  int slot;
  ReshardTask first;
  const std::string &name; ///< of the tensor
  const TensorType &type;
  const std::vector<Need> &needed; ///< by point; may repeat
};

class OpPlanner {
public:
  using PlacementOf = std::function<Placement &(ValueId)>;
  /// Makes everything needed a holding of the placement.
  using Provide = std::function<void(Placement &, const OperandRead &)>;
  /// The buffer of the state in which a part of a value is to be written; -1:
  /// one of its own.
  using StateBufferOf = std::function<BufferId(ValueId, const Need &)>;

  OpPlanner(const Graph &graph, const MemoryOrders &orders, TaskSink &sink,
            PlacementOf placementOf, Provide provide,
            StateBufferOf stateBufferOf)
      : graph(graph), orders(orders), sink(sink),
        placementOf(std::move(placementOf)), provide(std::move(provide)),
        stateBufferOf(std::move(stateBufferOf)) {}

  /// `config` must be legal for `turn.op`.
  void plan(const Turn &turn, const Configuration &config);

private:
  /// The partial groups of one result while its points are planned.
  struct OpenGroups {
    std::map<Box, int> byBox;
    /// By group and device: the member's buffer.
    std::unordered_map<uint64_t, BufferId> members;
  };
  static uint64_t memberKey(int group, DeviceId device) {
    return static_cast<uint64_t>(group) << 32 | static_cast<uint32_t>(device);
  }

  Placement &placement(OpId op, int slot);
  bool present(OpId op, int slot) const;
  std::string slotName(OpId op, int slot) const;
  void planPhase(const Turn &turn, int phaseIndex, const Phase &phase,
                 const Configuration &config,
                 const std::vector<int64_t> &points);
  BufferId sumSoFar(const Region &region, DeviceId device) const;
  BufferId addPartial(Placement &where, const SlotWrite &write, DeviceId device,
                      const Region &region, MemoryOrder order, BufferId buffer);

  const Graph &graph;
  const MemoryOrders &orders;
  TaskSink &sink;
  PlacementOf placementOf;
  Provide provide;
  StateBufferOf stateBufferOf;
  std::map<int, Placement> internals; ///< by slot, of the current operator
  OpenGroups open;
  /// Of results that are sums over the turns of their operators, by operator
  /// and slot.
  std::map<std::pair<OpId, int>, OpenGroups> overTurns;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_OPPLANNER_H
