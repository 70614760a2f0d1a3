//===- Timing.h - when every action starts and ends -------------*- C++ -*-===//
//
// One max-plus sweep over the actions in the program's own order, by the rules
// in ffc/Plan/TimedTask.h. Nothing is reordered by time, so a longer task never
// makes the step shorter.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_TIMING_H
#define FFC_PLAN_TIMING_H

#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Program.h"

#include <vector>

namespace ffc::plan {

struct ActionTime {
  Picoseconds start = 0, end = 0;
  /// How long it takes once nobody is waited for: up to the end.
  Picoseconds busy = 0;
};

struct Timeline {
  std::vector<std::vector<ActionTime>> devices; ///< parallel to actions
  Picoseconds makespan = 0;
  bool overlaps = false; ///< communication ran beside computation
};

/// Requires a program without deadlock (verifyProgram).
Timeline timeProgram(const Graph &graph, const Strategy &strategy,
                     const Program &program, const CostModel &cost);

} // namespace ffc::plan

#endif // FFC_PLAN_TIMING_H
