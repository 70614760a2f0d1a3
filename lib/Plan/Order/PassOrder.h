//===- PassOrder.h - the passes of a pipeline, in one order -----*- C++ -*-===//
//
// Internal to Plan: who does which pass when, for every schedule of a pipeline
// (PipelineSchedule.h). It knows stages by how long their passes take only.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_PASSORDER_H
#define FFC_LIB_PLAN_PASSORDER_H

#include "ffc/Plan/PipelineSchedule.h"

#include <vector>

namespace ffc::plan {

/// What a stage does for a micro-batch.
enum class PassKind {
  Forward,
  Backward,
  /// Of the backward pass, what no other stage waits for: mostly gradients of
  /// weights. A part of it unless PipelineSchedule::defersWeights.
  Weights,
};

/// What the order of passes depends on; times are in any unit.
struct PassStage {
  std::vector<DeviceId> devices; ///< ascending; do one pass at a time
  double forward = 0, backward = 0, weights = 0;

  double durationOf(PassKind kind) const {
    return kind == PassKind::Forward    ? forward
           : kind == PassKind::Backward ? backward
                                        : weights;
  }
};

struct TimedPass {
  int stage = 0;
  PassKind kind = PassKind::Forward;
  int microBatch = 0;
  double start = 0, end = 0;
};

/// Brings the passes of all stages into one order that keeps each stage's: by
/// when they start. What is further on its way comes first, so that it is
/// received before the next one is made. What a pass makes is `travel` on its
/// way to the next stage, which keeps nobody busy. `overlaps`: as for turnsOf.
std::vector<TimedPass> orderPasses(const std::vector<PassStage> &stages,
                                   const PipelineSchedule &schedule,
                                   bool overlaps, double travel = 0);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_PASSORDER_H
