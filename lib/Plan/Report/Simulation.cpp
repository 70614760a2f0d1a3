//===- Simulation.cpp - a timed program, to be shown to people ------------===//

#include "ffc/Plan/Simulation.h"

#include "ffc/Plan/LocalWork.h"

using namespace ffc::plan;

std::string ffc::plan::labelOf(const Action &action, const Graph &graph) {
  const OpId op = action.task.op;
  if (op < 0 || graph.op(op).name == action.name)
    return action.name;
  return graph.op(op).name + " <- " + action.name;
}

Work ffc::plan::workOf(const Simulation &simulation, ActionRef ref) {
  const Action &action = simulation.action(ref);
  const DeviceProgram &device = simulation.program.devices[ref.device];
  auto bytesOf = [&](const std::vector<Message> &messages) {
    int64_t bytes = 0;
    for (const Message &message : messages)
      bytes += device.buffers[message.buffer].bytes;
    return bytes;
  };
  return action.visit(
      [&](const KernelAction &) -> Work {
        const LocalWork work =
            *workOf(simulation.graph, simulation.strategy, device, action,
                    /*withKey=*/false);
        return {work.flops, work.bytes};
      },
      [&](const CopyAction &copy) -> Work {
        return {0, numElements(copy.size) *
                       byteSize(device.buffers[copy.dst].type)};
      },
      [&](const ExchangeAction &exchange) -> Work {
        return {0, bytesOf(exchange.sends) + bytesOf(exchange.receives)};
      },
      [&](const CollectiveAction &collective) -> Work {
        return {0, collectiveBytes(device, collective)};
      },
      [](const WaitAction &) -> Work { return {}; },
      [](const ProbeAction &) -> Work { return {}; });
}
