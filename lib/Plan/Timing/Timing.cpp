//===- Timing.cpp - when every action starts and ends ---------------------===//

#include "ffc/Plan/Timing.h"

#include "ffc/Plan/TimedTask.h"

#include <algorithm>

using namespace ffc::plan;

Timeline ffc::plan::timeProgram(const Graph &graph, const Strategy &strategy,
                                const Program &program, const CostModel &cost) {
  Timeline line;
  line.overlaps = cost.overlaps();
  for (const DeviceProgram &device : program.devices)
    line.devices.emplace_back(device.actions.size());
  std::vector<Picoseconds> local(program.devices.size()),
      network(program.devices.size()), receive(program.devices.size());
  QueueTimes times(local.data(), local.data());
  if (line.overlaps)
    times = {local.data(), network.data(), receive.data()};
  const TimedTasks tasks(graph, strategy, program, cost);
  const size_t microBatchEnd = numMicroBatchActions(program);
  tasks.sweep(times, [&](size_t part, Picoseconds start, Picoseconds end) {
    const ActionRef ref = program.order[part];
    line.devices[ref.device][ref.index] = {start, end,
                                           tasks.part(part).duration};
    line.makespan = std::max(line.makespan, end);
    if (part + 1 == microBatchEnd) {
      const Picoseconds others = otherMicroBatches(graph, line.makespan);
      for (auto *queues : {&local, &network, &receive})
        for (Picoseconds &time : *queues)
          time += others;
      // Also on devices that do nothing after them.
      line.makespan += others;
    }
  });
  return line;
}
