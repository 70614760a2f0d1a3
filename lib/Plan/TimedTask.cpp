//===- TimedTask.cpp - how long the tasks of a plan take ------------------===//

#include "ffc/Plan/TimedTask.h"

#include <algorithm>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Durations
//===----------------------------------------------------------------------===//

namespace {
class Durations {
public:
  Durations(const Graph &graph, const Strategy &strategy,
            const Program &program, const CostModel &cost)
      : graph(graph), strategy(strategy), program(program), cost(cost) {}

  const Action &action(ActionRef ref) const {
    return program.devices[ref.device].actions[ref.index];
  }

  Picoseconds local(ActionRef ref) const {
    const Action &a = action(ref);
    if (a.kind == Action::Kind::Copy)
      return cost.copy(ref.device,
                       numElements(a.size) * byteSize(buffer(ref, a.dst).type));
    if (a.kind == Action::Kind::Kernel)
      return kernel(ref, a);
    // Waits end with what they wait for, which is timed before them; only the
    // last step dumps, and that is not timed.
    return 0;
  }

  Picoseconds collective(ActionRef ref) const {
    const Action &a = action(ref);
    int64_t bytes =
        std::max(buffer(ref, a.src).bytes, buffer(ref, a.dst).bytes);
    return cost.collective(a.collective, program.groups[a.group], bytes);
  }

  Picoseconds message(DeviceId src, DeviceId dst, const Message &sent) const {
    return cost.transfer(src, dst,
                         program.devices[src].buffers[sent.buffer].bytes);
  }

private:
  const Buffer &buffer(ActionRef ref, BufferId id) const {
    return program.devices[ref.device].buffers[id];
  }

  Picoseconds kernel(ActionRef ref, const Action &a) const {
    const Op &op = graph.op(a.task.op);
    const Phase &phase =
        scheduleFor(op.rules, strategy[a.task.op]).phases[a.task.phase];
    int64_t bytes = 0;
    ElementType type = ElementType::F32;
    for (const auto *list : {&a.ins, &a.outs})
      for (BufferId id : *list)
        if (id >= 0) {
          bytes += buffer(ref, id).bytes;
          if (list == &a.outs)
            type = buffer(ref, id).type;
        }
    return cost.kernel(ref.device, flopsOf(phase, a.tile), bytes, type);
  }

  const Graph &graph;
  const Strategy &strategy;
  const Program &program;
  const CostModel &cost;
};
} // namespace

TimedTasks::TimedTasks(const Graph &graph, const Strategy &strategy,
                       const Program &program, const CostModel &cost) {
  Durations durations(graph, strategy, program, cost);
  const std::vector<ActionRef> &order = program.order;
  for (size_t i = 0; i < order.size();) {
    const Action &action = durations.action(order[i]);
    Task task;
    task.firstPart = static_cast<uint32_t>(parts.size());
    task.firstMeeting = static_cast<uint32_t>(meetings.size());
    task.firstAction = static_cast<uint32_t>(i);
    switch (action.kind) {
    case Action::Kind::Kernel:
    case Action::Kind::Copy:
    case Action::Kind::Wait:
    case Action::Kind::Probe:
      task.kind = Kind::Local;
      parts.push_back({order[i].device, durations.local(order[i])});
      ++i;
      break;
    case Action::Kind::Collective: {
      task.kind = Kind::Collective;
      Picoseconds duration = durations.collective(order[i]);
      for (DeviceId member : program.groups[action.group]) {
        parts.push_back({member, duration});
        ++i;
      }
      break;
    }
    case Action::Kind::Exchange: {
      task.kind = Kind::Exchange;
      std::vector<uint32_t> partOf(program.devices.size());
      size_t first = i;
      for (; i < order.size() &&
             durations.action(order[i]).kind == Action::Kind::Exchange &&
             durations.action(order[i]).tag == action.tag;
           ++i) {
        partOf[order[i].device] = static_cast<uint32_t>(parts.size());
        parts.push_back({order[i].device, 0});
      }
      // Both directions of a device work at once.
      std::vector<Picoseconds> sending(i - first), receiving(i - first);
      for (size_t a = first; a < i; ++a)
        for (const Message &sent : durations.action(order[a]).sends) {
          uint32_t src = partOf[order[a].device], dst = partOf[sent.peer];
          Picoseconds time =
              durations.message(order[a].device, sent.peer, sent);
          sending[src - task.firstPart] += time;
          receiving[dst - task.firstPart] += time;
          meetings.push_back({src, dst});
        }
      for (size_t p = 0; p < sending.size(); ++p)
        parts[task.firstPart + p].duration = std::max(sending[p], receiving[p]);
      break;
    }
    }
    task.endPart = static_cast<uint32_t>(parts.size());
    task.endMeeting = static_cast<uint32_t>(meetings.size());
    task.endAction = static_cast<uint32_t>(i);
    tasks.push_back(task);
  }
}

//===----------------------------------------------------------------------===//
// Sweep
//===----------------------------------------------------------------------===//

void TimedTasks::runExchange(const Task &task, Picoseconds *free) const {
  // Reused, so that a sweep does not allocate.
  thread_local std::vector<Picoseconds> ready;
  ready.clear();
  for (uint32_t p = task.firstPart; p < task.endPart; ++p)
    ready.push_back(free[parts[p].device]);
  for (uint32_t m = task.firstMeeting; m < task.endMeeting; ++m) {
    DeviceId a = parts[meetings[m].first].device,
             b = parts[meetings[m].second].device;
    Picoseconds &readyA = ready[meetings[m].first - task.firstPart],
                &readyB = ready[meetings[m].second - task.firstPart];
    readyA = std::max(readyA, free[b]);
    readyB = std::max(readyB, free[a]);
  }
  for (uint32_t p = task.firstPart; p < task.endPart; ++p)
    free[parts[p].device] = ready[p - task.firstPart] + parts[p].duration;
}

void TimedTasks::run(const Task &task, Picoseconds *free) const {
  switch (task.kind) {
  case Kind::Local:
    for (uint32_t p = task.firstPart; p < task.endPart; ++p)
      free[parts[p].device] += parts[p].duration;
    break;
  case Kind::Collective: {
    Picoseconds start = 0;
    for (uint32_t p = task.firstPart; p < task.endPart; ++p)
      start = std::max(start, free[parts[p].device]);
    for (uint32_t p = task.firstPart; p < task.endPart; ++p)
      free[parts[p].device] = start + parts[p].duration;
    break;
  }
  case Kind::Exchange:
    runExchange(task, free);
    break;
  }
}

void TimedTasks::advance(Picoseconds *free) const {
  for (const Task &task : tasks)
    run(task, free);
}

void TimedTasks::compact() {
  std::vector<Task> joined;
  std::vector<Part> kept;
  for (Task task : tasks) {
    bool local = task.kind == Kind::Local;
    bool joins = local && !joined.empty() && joined.back().kind == Kind::Local;
    uint32_t first = static_cast<uint32_t>(kept.size());
    // Parts of meetings move with their task.
    for (uint32_t m = task.firstMeeting; m < task.endMeeting; ++m) {
      meetings[m].first += first - task.firstPart;
      meetings[m].second += first - task.firstPart;
    }
    for (uint32_t p = task.firstPart; p < task.endPart; ++p) {
      auto known = kept.end();
      if (joins)
        known = std::find_if(
            kept.begin() + joined.back().firstPart, kept.end(),
            [&](const Part &part) { return part.device == parts[p].device; });
      if (known != kept.end())
        known->duration += parts[p].duration;
      else if (!local || parts[p].duration != 0)
        kept.push_back(parts[p]);
    }
    if (joins) {
      joined.back().endPart = static_cast<uint32_t>(kept.size());
      continue;
    }
    task.firstPart = first;
    task.endPart = static_cast<uint32_t>(kept.size());
    task.firstAction = task.endAction = 0;
    if (!local || task.endPart > task.firstPart)
      joined.push_back(task);
  }
  joined.shrink_to_fit();
  kept.shrink_to_fit();
  tasks = std::move(joined);
  parts = std::move(kept);
}
