//===- Simulation.cpp - a timed program, to be shown to people ------------===//

#include "ffc/Plan/Simulation.h"

#include "ffc/Plan/LocalWork.h"

using namespace ffc::plan;

bool ffc::plan::isCommunication(const Action &action) {
  return action.kind == Action::Kind::Exchange ||
         action.kind == Action::Kind::Collective;
}

bool ffc::plan::isTask(const Action &action) {
  return isCommunication(action) || action.kind == Action::Kind::Kernel ||
         action.kind == Action::Kind::Copy;
}

const char *ffc::plan::str(Action::Kind kind) {
  static const char *const kWords[] = {"kernel",     "copy", "exchange",
                                       "collective", "wait", "probe"};
  return kWords[static_cast<int>(kind)];
}

std::string ffc::plan::labelOf(const Action &action, const Graph &graph) {
  const OpId op = action.task.op;
  if (op < 0 || graph.op(op).name == action.name)
    return action.name;
  return graph.op(op).name + " <- " + action.name;
}

Work ffc::plan::workOf(const Simulation &simulation, ActionRef ref) {
  const Action &action = simulation.action(ref);
  const DeviceProgram &device = simulation.program.devices[ref.device];
  auto bytesOf = [&](BufferId id) { return device.buffers[id].bytes; };
  switch (action.kind) {
  case Action::Kind::Kernel: {
    const LocalWork work =
        workOf(simulation.graph, simulation.strategy, device, action,
               /*withKey=*/false);
    return {work.flops, work.bytes};
  }
  case Action::Kind::Copy:
    return {0, numElements(action.size) *
                   byteSize(device.buffers[action.dst].type)};
  case Action::Kind::Exchange: {
    Work work;
    for (const auto *messages : {&action.sends, &action.receives})
      for (const Message &message : *messages)
        work.bytes += bytesOf(message.buffer);
    return work;
  }
  case Action::Kind::Collective:
    return {0, collectiveBytes(device, action)};
  case Action::Kind::Wait:
  case Action::Kind::Probe:
    return {};
  }
  return {};
}
