//===- PlannedQuality.cpp - how good a whole plan is ----------------------===//

#include "ffc/Search/PlannedQuality.h"

#include "Chain.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/ScheduledStep.h"
#include "ffc/Plan/Timing.h"

#include <cassert>
#include <limits>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// To time a grid point, or to count its bytes, by segments takes about the
/// time of planning it over this.
static constexpr int64_t kBySegments = 20;

/// Gaps of the arena, and what is within kernels, are not in the bound: at most
/// 5 % of the devices of six plans of 8 and 24 of Llama-3's layers, and 1.3 %
/// of those that need most. (Of small plans, where single buffers count, it may
/// be 30 %.)
static constexpr double kUnplanned = 1.05;

static std::vector<int64_t> roomOf(const Topology &topology) {
  std::vector<int64_t> room;
  for (DeviceId id = 0; id < topology.numDevices(); ++id)
    room.push_back(topology.kindOf(id).memoryBytes);
  return room;
}

PlanJudge::PlanJudge(const Planning &planning)
    : of(planning), room(roomOf(planning.topology)),
      table(planning.graph, planning.topology.numDevices(), planning.cost) {}

Quality PlanJudge::quality(const Strategy &strategy,
                           const PipelineSchedule &schedule) {
  constexpr double none = std::numeric_limits<double>::max();
  return qualityIfBetter(strategy, schedule, {kMaxCost, none});
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
    const auto bytes = step.memory();
    assert(bytes && "expected the bytes of a step whose time is known");
    quality.load = shareOf(*bytes, room);
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
  quality.load = shareOf(bytes, room);
  return quality;
}
