//===- Timing.cpp - when every action starts and ends ---------------------===//

#include "ffc/Plan/Timing.h"

#include "ProgramWalk.h"

using namespace ffc::plan;

namespace {

class Clock {
public:
  Clock(const Graph &graph, const Strategy &strategy, const Program &program,
        const CostModel &cost)
      : graph(graph), strategy(strategy), program(program), cost(cost),
        compute(program.devices.size()), sending(program.devices.size()),
        receiving(program.devices.size()) {
    for (const DeviceProgram &device : program.devices)
      line.devices.emplace_back(device.actions.size());
  }

  bool local(ActionRef ref) {
    ActionTime &time = at(ref);
    time.start = compute[ref.device];
    time.end = time.start + duration(ref);
    compute[ref.device] = time.end;
    return true;
  }

  /// Posting takes no time; the exchange ends with its last message.
  bool posted(ActionRef ref) {
    at(ref).start = at(ref).end = compute[ref.device];
    return true;
  }

  bool message(ActionRef send, size_t index, ActionRef receive, size_t) {
    const Message &m = actionOf(send).sends[index];
    int64_t bytes = program.devices[send.device].buffers[m.buffer].bytes;
    Picoseconds start =
        std::max({at(send).start, at(receive).start, sending[send.device],
                  receiving[receive.device]});
    Picoseconds end = start + cost.transfer(send.device, receive.device, bytes);
    sending[send.device] = receiving[receive.device] = end;
    at(send).end = std::max(at(send).end, end);
    at(receive).end = std::max(at(receive).end, end);
    return true;
  }

  bool collective(const std::vector<ActionRef> &members) {
    Picoseconds start = 0;
    int64_t bytes = 0;
    for (ActionRef ref : members) {
      start = std::max({start, compute[ref.device], sending[ref.device],
                        receiving[ref.device]});
      const Action &a = actionOf(ref);
      for (BufferId buffer : {a.src, a.dst})
        bytes =
            std::max(bytes, program.devices[ref.device].buffers[buffer].bytes);
    }
    const Action &a = actionOf(members.front());
    Picoseconds end =
        start + cost.collective(a.collective, program.groups[a.group], bytes);
    for (ActionRef ref : members) {
      at(ref) = {start, end};
      sending[ref.device] = receiving[ref.device] = end;
    }
    return true;
  }

  bool waited(ActionRef ref) {
    ActionTime &time = at(ref);
    time.start = compute[ref.device];
    time.end = std::max(time.start, at({ref.device, actionOf(ref).event}).end);
    compute[ref.device] = time.end;
    return true;
  }

  Timeline finish() {
    for (Picoseconds end : compute)
      line.makespan = std::max(line.makespan, end);
    return std::move(line);
  }

private:
  const Action &actionOf(ActionRef ref) const {
    return program.devices[ref.device].actions[ref.index];
  }
  ActionTime &at(ActionRef ref) { return line.devices[ref.device][ref.index]; }

  Picoseconds duration(ActionRef ref) const {
    const Action &a = actionOf(ref);
    const auto &buffers = program.devices[ref.device].buffers;
    if (a.kind == Action::Kind::Probe)
      return 0; // only the last step dumps, and that is not timed
    if (a.kind == Action::Kind::Copy)
      return cost.copy(ref.device,
                       numElements(a.size) * byteSize(buffers[a.dst].type));
    const Op &op = graph.op(a.task.op);
    const Phase &phase =
        scheduleFor(op.rules, strategy[a.task.op]).phases[a.task.phase];
    int64_t bytes = 0;
    ElementType type = ElementType::F32;
    for (const auto *list : {&a.ins, &a.outs})
      for (BufferId buffer : *list)
        if (buffer >= 0) {
          bytes += buffers[buffer].bytes;
          if (list == &a.outs)
            type = buffers[buffer].type;
        }
    return cost.kernel(ref.device, flopsOf(phase, a.tile), bytes, type);
  }

  const Graph &graph;
  const Strategy &strategy;
  const Program &program;
  const CostModel &cost;
  std::vector<Picoseconds> compute, sending, receiving; ///< free from then on
  Timeline line;
};

} // namespace

Timeline ffc::plan::timeProgram(const Graph &graph, const Strategy &strategy,
                                const Program &program, const CostModel &cost) {
  Clock clock(graph, strategy, program, cost);
  ProgramWalk<Clock>(program, clock).run();
  return clock.finish();
}
