//===- Timing.cpp - when every action starts and ends ---------------------===//

#include "ffc/Plan/Timing.h"

#include "ffc/Plan/TimedTask.h"

#include <algorithm>

using namespace ffc::plan;

Timeline ffc::plan::timeProgram(const Graph &graph, const Strategy &strategy,
                                const Program &program, const CostModel &cost) {
  Timeline line;
  for (const DeviceProgram &device : program.devices)
    line.devices.emplace_back(device.actions.size());
  std::vector<Picoseconds> local(program.devices.size()),
      network(program.devices.size());
  QueueTimes times{local.data(),
                   cost.overlaps() ? network.data() : local.data()};
  TimedTasks(graph, strategy, program, cost)
      .advance(program, times,
               [&](ActionRef ref, Picoseconds start, Picoseconds end) {
                 line.devices[ref.device][ref.index] = {start, end};
                 line.makespan = std::max(line.makespan, end);
               });
  return line;
}
