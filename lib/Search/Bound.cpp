//===- Bound.cpp - the least time that any strategy can take --------------===//

#include "ffc/Search/Search.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::plan;

Picoseconds search::lowerBound(const Graph &graph, const Topology &topology) {
  Picoseconds launch = kMaxCost;
  for (DeviceId d = 0; d < topology.numDevices(); ++d)
    launch = std::min(launch, topology.kindOf(d).launch);
  auto rate = [&](ElementType type) {
    double sum = 0;
    for (DeviceId d = 0; d < topology.numDevices(); ++d)
      sum += topology.kindOf(d).flopsPerSecond(type);
    return sum;
  };
  // The least of all schedules, spread evenly, plus one launch where that
  // follows another operator.
  std::vector<double> path(graph.ops.size());
  double work = 0, longest = 0;
  for (size_t id = 0; id < graph.ops.size(); ++id) {
    const Op &op = graph.ops[id];
    ElementType type = ElementType::F32;
    for (ValueId result : op.results)
      if (result >= 0) {
        type = graph.value(result).type.type;
        break;
      }
    Tile whole(static_cast<int>(op.rules.dims.size()));
    for (int d = 0; d < whole.rank(); ++d)
      whole[d] = {0, op.rules.dims[d].extent};
    double least = -1;
    for (const Schedule &schedule : op.rules.schedules) {
      double flops = 0;
      for (const Phase &phase : schedule.phases)
        flops += flopsOf(phase, whole);
      least = least < 0 ? flops : std::min(least, flops);
    }
    double time = std::max(least, 0.0) / rate(type) * 1e12;
    work += time;
    double before = 0;
    for (ValueId operand : op.operands)
      if (operand >= 0 && graph.value(operand).producer >= 0)
        before = std::max(before, path[graph.value(operand).producer]);
    path[id] = before + time + static_cast<double>(launch);
    longest = std::max(longest, path[id]);
  }
  double bound = std::max(work, longest);
  return bound < static_cast<double>(kMaxCost) ? static_cast<Picoseconds>(bound)
                                               : kMaxCost;
}
