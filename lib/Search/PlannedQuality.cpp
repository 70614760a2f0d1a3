//===- PlannedQuality.cpp - how good a whole plan is ----------------------===//

#include "ffc/Search/PlannedQuality.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/SymmetricSection.h"
#include "ffc/Plan/Timing.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

Quality search::plannedQuality(const Graph &graph, const Topology &topology,
                               const CostModel &cost, const Strategy &strategy,
                               const PipelineSchedule &schedule) {
  Program program =
      planProgram(graph, strategy, topology.numDevices(), cost, schedule);
  if (topology.kindOf(0).target == Target::CUDA)
    assignSymmetricOffsets(graph, strategy, program);
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
