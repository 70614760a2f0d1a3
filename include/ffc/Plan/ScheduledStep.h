//===- ScheduledStep.h - a step with a schedule, by segments ----*- C++ -*-===//
#ifndef FFC_PLAN_SCHEDULEDSTEP_H
#define FFC_PLAN_SCHEDULEDSTEP_H

#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Plan/Segments.h"

#include <memory>
#include <optional>
#include <vector>

namespace ffc::plan {

/// Plans of more grid points than that are judged without their tasks where
/// nobody asks for these: planning a thousand takes some tens of milliseconds.
constexpr int64_t kMostPlannedPoints = 100000;

/// Of all operators.
int64_t numPoints(const Strategy &strategy);

/// A step whose operators may take turns and be done again, without its tasks:
/// equal layers and micro-batches share their segments, so that time and memory
/// of this go with the turns of operators on each device, not with what it
/// takes to plan them. Says nothing if some micro-batch is not like the others
/// (their number does not divide the samples, for instance).
class ScheduledStep {
public:
  /// `strategy` must be complete and legal, `table` must outlive the step.
  ScheduledStep(SegmentTable &table, const Strategy &strategy,
                const PipelineSchedule &schedule);
  ~ScheduledStep();

  /// That of timeProgram() for planProgram(), exactly.
  std::optional<Picoseconds> time() const;
  /// What is needed on every device at least, as stepMemory() has it.
  std::optional<std::vector<int64_t>> memory() const;

private:
  struct Order;
  std::unique_ptr<const Order> order;
};

} // namespace ffc::plan

#endif // FFC_PLAN_SCHEDULEDSTEP_H
