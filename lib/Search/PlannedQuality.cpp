//===- PlannedQuality.cpp - how good a whole plan is ----------------------===//

#include "ffc/Search/PlannedQuality.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/ScheduledStep.h"
#include "ffc/Plan/Timing.h"

#include <algorithm>
#include <limits>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// A grid point by its segment takes about as much of the time of planning it.
static constexpr int64_t kBySegments = 20;

/// Gaps of the arena, and what is within kernels, are not in the bound.
static constexpr double kUnplanned = 1.2;

PlanJudge::PlanJudge(const Planning &planning)
    : of(planning),
      table(planning.graph, planning.topology.numDevices(), planning.cost) {}

Quality PlanJudge::quality(const Strategy &strategy,
                           const PipelineSchedule &schedule) {
  constexpr double none = std::numeric_limits<double>::max();
  return qualityIfBetter(strategy, schedule, {kMaxCost, none});
}

/// The largest share of its memory that a device needs.
static double shareOf(const std::vector<int64_t> &bytes,
                      const Topology &topology) {
  double share = 0;
  for (DeviceId id = 0; id < topology.numDevices(); ++id)
    share = std::max(share,
                     static_cast<double>(bytes[id]) /
                         static_cast<double>(topology.kindOf(id).memoryBytes));
  return share;
}

Quality PlanJudge::qualityIfBetter(const Strategy &strategy,
                                   const PipelineSchedule &schedule,
                                   const Quality &best) {
  const auto &[graph, topology, cost, target] = of;
  const int64_t points = numPoints(strategy);
  Quality quality;
  done += points / kBySegments;
  const ScheduledStep step(table, strategy, schedule);
  if (const auto time = step.time()) {
    quality.makespan = *time;
    if (best.fits() && quality.makespan >= best.makespan)
      return quality;
    done += points / kBySegments;
    quality.load = shareOf(*step.memory(), topology);
    if (points > kMostPlannedPoints)
      quality.load *= kUnplanned;
    if (points > kMostPlannedPoints || (best.fits() && !quality.fits()))
      return quality;
  } else if (points > kMostPlannedPoints) {
    return {kMaxCost, std::numeric_limits<double>::max()};
  }
  done += points;
  const Program program = planProgram(target, graph, strategy,
                                      topology.numDevices(), cost, schedule);
  quality.makespan = timeProgram(graph, strategy, program, cost).makespan;
  std::vector<int64_t> bytes;
  for (const DeviceProgram &device : program.devices)
    bytes.push_back(device.stateBytes + device.arenaBytes);
  quality.load = shareOf(bytes, topology);
  return quality;
}
