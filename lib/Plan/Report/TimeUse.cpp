//===- TimeUse.cpp - where the time of a step goes ------------------------===//

#include "ffc/Plan/TimeUse.h"

#include <algorithm>
#include <utility>

using namespace ffc::plan;

using Stretch = std::pair<Picoseconds, Picoseconds>;

static void add(TimeUse &use, const Action &action, Picoseconds busy) {
  if (action.is<KernelAction>())
    use.kernels += busy;
  else if (action.is<CopyAction>())
    use.copies += busy;
  else if (isCommunication(action))
    use.communication += busy;
}

/// How often a step does an action.
static int timesOf(const Simulation &simulation, size_t device, size_t action) {
  return action < static_cast<size_t>(
                      simulation.program.devices[device].microBatchActions)
             ? simulation.graph.microBatches
             : 1;
}

/// The time that is in any of `stretches`.
static Picoseconds covered(std::vector<Stretch> stretches) {
  std::sort(stretches.begin(), stretches.end());
  Picoseconds sum = 0, until = 0;
  for (auto [start, end] : stretches) {
    sum += std::max<Picoseconds>(end - std::max(start, until), 0);
    until = std::max(until, end);
  }
  return sum;
}

std::vector<DeviceUse> ffc::plan::useByDevice(const Simulation &simulation) {
  std::vector<DeviceUse> uses;
  for (size_t d = 0; d < simulation.program.devices.size(); ++d) {
    const DeviceProgram &device = simulation.program.devices[d];
    DeviceUse use;
    use.stateBytes = device.stateBytes;
    use.arenaBytes = device.arenaBytes;
    use.idle = simulation.times.makespan;
    // Each queue's actions are in order, those of both need not be.
    std::vector<Stretch> stretches;
    for (size_t i = 0; i < device.actions.size(); ++i) {
      if (i == static_cast<size_t>(device.microBatchActions))
        use.idle -=
            timesOf(simulation, d, 0) * covered(std::exchange(stretches, {}));
      const ActionTime &time = simulation.times.devices[d][i];
      add(use, device.actions[i], timesOf(simulation, d, i) * time.busy);
      if (time.busy > 0)
        stretches.push_back({time.end - time.busy, time.end});
    }
    use.idle -= covered(std::move(stretches));
    uses.push_back(use);
  }
  return uses;
}

std::vector<TimeUse> ffc::plan::useByOperator(const Simulation &simulation) {
  const size_t none = simulation.graph.ops.size();
  std::vector<TimeUse> uses(none + 1);
  // A batch took the time of its first member; everyone caused a share of it.
  std::vector<Picoseconds> batches(simulation.program.batches.size());
  auto busyOf = [&](ActionRef ref, const Action &action) {
    const Picoseconds busy = simulation.time(ref).busy;
    const auto *collective = action.as<CollectiveAction>();
    if (!collective || collective->batch < 0)
      return busy;
    const Program::Batch &batch = simulation.program.batches[collective->batch];
    if (action.task == batch.first)
      batches[collective->batch] = busy;
    const int64_t bytes =
        collectiveBytes(simulation.program.devices[ref.device], *collective);
    return static_cast<Picoseconds>(
        static_cast<double>(batches[collective->batch]) *
        (static_cast<double>(bytes) / static_cast<double>(batch.bytes)));
  };
  for (ActionRef ref : simulation.program.order) {
    const Action &action = simulation.action(ref);
    const OpId op = action.task.op;
    add(uses[op < 0 ? none : static_cast<size_t>(op)], action,
        timesOf(simulation, ref.device, ref.index) * busyOf(ref, action));
  }
  return uses;
}
