//===- TimeUse.cpp - where the time of a step goes ------------------------===//

#include "ffc/Plan/TimeUse.h"

#include <algorithm>

using namespace ffc::plan;

static void add(TimeUse &use, const Action &action, const ActionTime &time) {
  if (action.kind == Action::Kind::Kernel)
    use.kernels += time.busy;
  else if (action.kind == Action::Kind::Copy)
    use.copies += time.busy;
  else if (isCommunication(action))
    use.communication += time.busy;
}

std::vector<DeviceUse> ffc::plan::useByDevice(const Simulation &simulation) {
  std::vector<DeviceUse> uses;
  for (size_t d = 0; d < simulation.program.devices.size(); ++d) {
    const DeviceProgram &device = simulation.program.devices[d];
    DeviceUse use;
    use.stateBytes = device.stateBytes;
    use.arenaBytes = device.arenaBytes;
    // Each queue's actions are in order, those of both need not be.
    std::vector<std::pair<Picoseconds, Picoseconds>> intervals;
    for (size_t i = 0; i < device.actions.size(); ++i) {
      const ActionTime &time = simulation.times.devices[d][i];
      add(use, device.actions[i], time);
      if (time.busy > 0)
        intervals.push_back({time.end - time.busy, time.end});
    }
    std::sort(intervals.begin(), intervals.end());
    Picoseconds until = 0;
    for (auto [start, end] : intervals) {
      use.idle += std::max<Picoseconds>(start - until, 0);
      until = std::max(until, end);
    }
    use.idle += simulation.times.makespan - until;
    uses.push_back(use);
  }
  return uses;
}

std::vector<TimeUse> ffc::plan::useByOperator(const Simulation &simulation) {
  const size_t none = simulation.graph.ops.size();
  std::vector<TimeUse> uses(none + 1);
  for (ActionRef ref : simulation.program.order) {
    const Action &action = simulation.action(ref);
    const OpId op = action.task.op;
    add(uses[op < 0 ? none : static_cast<size_t>(op)], action,
        simulation.time(ref));
  }
  return uses;
}
