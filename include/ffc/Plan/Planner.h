//===- Planner.h - from a strategy to the tasks of every device -*- C++ -*-===//
//
// Expands a graph and a strategy into a Program: a kernel per phase and grid
// point, a reshard wherever a reader needs a part of a value that its device
// does not hold, state in its home layout, buffers at arena offsets.
//
// The order of actions is a function of the plan: operators in the order of a
// step, or their turns in that of a pipeline; for each, the reshards of its
// operands and then its points in row-major order.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_PLANNER_H
#define FFC_PLAN_PLANNER_H

#include "ffc/Plan/Cost.h"
#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Plan/Program.h"

namespace ffc::plan {

/// `strategy` must be complete and legal (checkConfiguration). Every state's
/// readers must precede the operator that updates it in graph order.
Program planProgram(const Graph &graph, const Strategy &strategy,
                    int numDevices, const CostModel &cost,
                    const PipelineSchedule &schedule = {});
/// The same with buffers where programs for `target` have them
/// (SymmetricSection.h).
Program planProgram(Target target, const Graph &graph, const Strategy &strategy,
                    int numDevices, const CostModel &cost,
                    const PipelineSchedule &schedule);

} // namespace ffc::plan

#endif // FFC_PLAN_PLANNER_H
