//===- KernelTime.cpp - about what an operator takes ----------------------===//

#include "KernelTime.h"

#include "ffc/Plan/LocalWork.h"

using namespace ffc;
using namespace ffc::plan;

double search::operationsOf(const Op &op) {
  const Tile whole = Configuration::onDevice(0).tileOf(op.rules, 0);
  double flops = 0;
  for (const Phase &phase : op.rules.schedules.front().phases)
    flops += flopsOf(phase, whole);
  return flops;
}

Picoseconds search::kernelTime(const Graph &graph, OpId id, int64_t blocks,
                               const CostModel &cost, DeviceId device) {
  const Op &op = graph.op(id);
  const double flops = operationsOf(op);
  int64_t bytes = 0;
  ElementType type = ElementType::F32; // of a result, or narrow operands
  for (ValueId value : op.results)
    if (value >= 0)
      type = graph.value(value).type.type;
  for (ValueId value : op.operands)
    if (value >= 0 && decidesArithmetic(graph.value(value).type.type))
      type = graph.value(value).type.type;
  for (const std::vector<ValueId> *values : {&op.operands, &op.results})
    for (ValueId value : *values)
      if (value >= 0)
        bytes += graph.value(value).type.bytes() /
                 (graph.value(value).kind == ValueKind::State ? 1 : blocks);
  return cost.kernel(device, flops / static_cast<double>(blocks), bytes,
                     arithmeticOf(op, type), /*parts=*/1,
                     op.rules.schedules.front().phases.front().kernel);
}
