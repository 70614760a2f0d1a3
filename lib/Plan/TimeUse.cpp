//===- TimeUse.cpp - where the time of a step goes ------------------------===//

#include "ffc/Plan/TimeUse.h"

#include "TaskSink.h"

#include <algorithm>

using namespace ffc::plan;

static void add(TimeUse &use, const Action &action, Picoseconds busy) {
  if (action.kind == Action::Kind::Kernel)
    use.kernels += busy;
  else if (action.kind == Action::Kind::Copy)
    use.copies += busy;
  else if (isCommunication(action))
    use.communication += busy;
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
      add(use, device.actions[i], time.busy);
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
  // A batch took the time of its first member; everyone caused a share of it.
  std::vector<Picoseconds> batches(simulation.program.batches.size());
  auto shareOf = [&](ActionRef ref, const Action &action) {
    const Program::Batch &batch = simulation.program.batches[action.batch];
    if (action.task == batch.first)
      batches[action.batch] = simulation.time(ref).busy;
    const int64_t bytes =
        collectiveBytes(simulation.program.devices[ref.device], action);
    return static_cast<Picoseconds>(
        static_cast<double>(batches[action.batch]) *
        (static_cast<double>(bytes) / static_cast<double>(batch.bytes)));
  };
  for (ActionRef ref : simulation.program.order) {
    const Action &action = simulation.action(ref);
    const OpId op = action.task.op;
    add(uses[op < 0 ? none : static_cast<size_t>(op)], action,
        action.batch < 0 ? simulation.time(ref).busy : shareOf(ref, action));
  }
  return uses;
}
