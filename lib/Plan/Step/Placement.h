//===- Placement.h - where a value is, and how it moves ---------*- C++ -*-===//
//
// Internal to Plan: the parts of one value in the course of a step, and what is
// done to them between operators: reshards, copies, sums.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_PLACEMENT_H
#define FFC_LIB_PLAN_PLACEMENT_H

#include "TaskSink.h"
#include "ffc/Plan/Reshard.h"

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
  /// True if there is each part that is not empty.
  bool holdsAll(const std::vector<Need> &needed) const;
  /// True if the holdings that are boxes cover a tensor of `shape`.
  bool isComplete(const Shape &shape) const;
};

/// `needs` without repetitions, in their order.
std::vector<Need> distinctNeeds(const std::vector<Need> &needs);

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

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_PLACEMENT_H
