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
  std::vector<Picoseconds> free(program.devices.size());
  TimedTasks(graph, strategy, program, cost)
      .advance(program, free.data(),
               [&](ActionRef ref, Picoseconds start, Picoseconds end) {
                 line.devices[ref.device][ref.index] = {start, end};
               });
  line.makespan = *std::max_element(free.begin(), free.end());
  return line;
}
