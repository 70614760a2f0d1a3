//===- PlannedQuality.cpp - how good a whole plan is ----------------------===//

#include "ffc/Search/PlannedQuality.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/Timing.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

Quality search::plannedQuality(const Planning &planning,
                               const Strategy &strategy,
                               const PipelineSchedule &schedule) {
  const auto &[graph, topology, cost, target] = planning;
  const Program program = planProgram(target, graph, strategy,
                                      topology.numDevices(), cost, schedule);
  Quality quality;
  quality.makespan = timeProgram(graph, strategy, program, cost).makespan;
  for (DeviceId id = 0; id < topology.numDevices(); ++id) {
    const DeviceProgram &device = program.devices[id];
    quality.load =
        std::max(quality.load,
                 static_cast<double>(device.stateBytes + device.arenaBytes) /
                     static_cast<double>(topology.kindOf(id).memoryBytes));
  }
  return quality;
}
