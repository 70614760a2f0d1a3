//===- Simulation.cpp - a timed program, to be shown to people ------------===//

#include "ffc/Plan/Simulation.h"

#include "TimeSink.h"

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
  auto sizeOf = [&](BufferId id) -> BufferSize {
    const Buffer &buffer = simulation.program.devices[ref.device].buffers[id];
    return {buffer.bytes, buffer.type};
  };
  switch (action.kind) {
  case Action::Kind::Kernel: {
    const OpId op = action.task.op;
    const Schedule &schedule =
        scheduleFor(simulation.graph.op(op).rules, simulation.strategy[op]);
    const KernelWork work =
        kernelWork(schedule.phases[action.task.phase], action.tile, action.ins,
                   action.outs, sizeOf);
    return {work.flops, work.bytes};
  }
  case Action::Kind::Copy:
    return {0, numElements(action.size) * byteSize(sizeOf(action.dst).type)};
  case Action::Kind::Exchange: {
    Work work;
    for (const auto *messages : {&action.sends, &action.receives})
      for (const Message &message : *messages)
        work.bytes += sizeOf(message.buffer).bytes;
    return work;
  }
  case Action::Kind::Collective:
    return {
        0, collectiveBytes(sizeOf(action.src).bytes, sizeOf(action.dst).bytes)};
  case Action::Kind::Wait:
  case Action::Kind::Probe:
    return {};
  }
  return {};
}
