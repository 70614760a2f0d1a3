//===- StageTimer.h - time and memory of plans of stages --------*- C++ -*-===//
//
// What a StagePlan takes by the tables of a StageProfile. Two predictions:
//
//   - as Aceso makes it (Liu et al., EuroSys 2024, section 4 and the artifact),
//     (m - 1) max t + sum t with the peculiarities of docs/stages.md, for
//     comparison with published figures;
//   - ours: the order of one forward, one backward (PipelineSchedule.h) to the
//     end, links at the rates of their tables, nothing sent before the first or
//     behind the last stage; then gradients are summed over data parallel
//     devices and parameters updated (on V100s, as all that was measured).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_STAGETIMER_H
#define FFC_PLAN_STAGETIMER_H

#include "ffc/Plan/StageModel.h"
#include "ffc/Plan/StagePlan.h"

namespace ffc::plan {

/// Of a stage on each of its devices, in MiB.
struct StageMemory {
  double weights = 0, masters = 0, gradients = 0, optimizer = 0;
  double inFlight = 0; ///< activations of micro-batches that wait
  double current = 0;  ///< those of the one that is computed
  double peak = 0;     ///< the most that is computed again at once
  double reserved = 0; ///< what the allocator holds besides

  double total() const {
    return weights + masters + gradients + optimizer + inFlight + current +
           peak + reserved;
  }
};

/// Of a stage for a micro-batch, in microseconds.
struct StageTime {
  double forward = 0, backward = 0, again = 0;
  double in = 0, out = 0; ///< the activations' way over the cuts
  double reshardForward = 0, reshardBackward = 0;

  /// With communication in the pass that waits for it.
  double forwardPass() const { return in + forward + reshardForward; }
  double backwardPass() const {
    return again + backward + reshardBackward + out;
  }
  double total() const { return forwardPass() + backwardPass(); }
};

struct StageCost {
  StageTime time;
  StageMemory memory;
};

struct StagePlanCost {
  std::vector<StageCost> stages;
  double formula = 0; ///< milliseconds of an iteration, (m - 1) max t + sum t
  /// Of the same times in the exact order of 1F1B.
  double exact = 0;
  /// Our own prediction.
  double predicted = 0;
  double memory = 0; ///< MiB of the fullest stage
};

/// Milliseconds of an iteration of one forward, one backward with stages whose
/// passes take so many microseconds. What crosses a cut takes `travel`, which
/// keeps nobody busy; a StageTimer has it in the passes that wait instead.
double
timeOneForwardOneBackward(const std::vector<std::pair<double, double>> &passes,
                          int microBatches, double travel = 0);

class StageTimer {
public:
  /// The arguments must outlive it.
  StageTimer(const StageProfile &profile, const StageModel &model)
      : profile(profile), model(model) {}

  /// What is wrong with the plan, if anything is: it must have all operators
  /// of the model and tables for every split.
  std::optional<std::string> check(const StagePlan &plan) const;

  /// Of a plan that is right.
  StagePlanCost cost(const StagePlan &plan) const;

  /// Of a stage that `later` others follow, behind `before` devices.
  StageCost cost(const PlannedStage &stage, int microBatch, int later,
                 int before, int devicesPerNode) const;

  /// The time to change from the layout behind `prev` to that before operator
  /// `op`, forward and backward in microseconds.
  std::pair<double, double> reshard(int op, int devices, int microBatch,
                                    const OperatorSplit &prev,
                                    const OperatorSplit &split) const;

  const StageRow &row(int op, int devices, int microBatch,
                      const OperatorSplit &split) const {
    return (*profile.table(microBatch / (devices / split.tensor), split.tensor,
                           split.algorithm))[model.ops[op].row];
  }

private:
  StageTime timeOf(const PlannedStage &stage, int microBatch, int before,
                   int devicesPerNode) const;
  double gradientSum(const PlannedStage &stage, int microBatch,
                     int devicesPerNode) const;
  double update(const StageMemory &memory) const;
  double predict(const StagePlan &plan, const StagePlanCost &cost) const;
  StageMemory memoryOf(const PlannedStage &stage, int microBatch,
                       int later) const;

  const StageProfile &profile;
  const StageModel &model;
};

} // namespace ffc::plan

#endif // FFC_PLAN_STAGETIMER_H
