//===- TimedTask.cpp - how long the tasks of a plan take ------------------===//

#include "ffc/Plan/TimedTask.h"

#include "PlannedCollectives.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <map>
#include <numeric>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Durations
//===----------------------------------------------------------------------===//

TimedTasks::Task &TimedTasks::addTask(Kind kind) {
  Task task;
  task.kind = kind;
  task.firstPart = task.endPart = static_cast<uint32_t>(parts.size());
  task.firstRendezvous = task.endRendezvous =
      static_cast<uint32_t>(rendezvous.size());
  tasks.push_back(task);
  return tasks.back();
}

void TimedTasks::addCollective(const std::vector<DeviceId> &members,
                               Picoseconds duration) {
  Task &task = addTask(Kind::Collective);
  for (DeviceId member : members)
    parts.push_back({member, duration});
  task.endPart = static_cast<uint32_t>(parts.size());
}

/// Who meets whom among the parts of an exchange, as rows of bits.
class TimedTasks::Meetings {
public:
  explicit Meetings(size_t parts)
      : words((parts + 63) / 64), order(parts), bits(parts * words) {
    std::iota(order.begin(), order.end(), uint32_t(0));
  }
  void add(size_t part, size_t other) {
    bits[part * words + other / 64] |= uint64_t(1) << other % 64;
  }
  /// Numbers the distinct rows; returns how many there are.
  uint32_t number(std::vector<uint32_t> &numbers) {
    auto compare = [&](uint32_t a, uint32_t b) {
      return std::memcmp(&bits[a * words], &bits[b * words],
                         words * sizeof(uint64_t));
    };
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return compare(a, b) < 0; });
    uint32_t count = 0;
    numbers.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      count += i == 0 || compare(order[i - 1], order[i]) != 0;
      numbers[order[i]] = count - 1;
    }
    return count;
  }
  template <class Visitor> void eachOf(size_t part, Visitor visit) const {
    for (size_t w = 0; w < words; ++w)
      for (uint64_t rest = bits[part * words + w]; rest; rest &= rest - 1)
        visit(static_cast<uint32_t>(w * 64) +
              static_cast<uint32_t>(__builtin_ctzll(rest)));
  }

private:
  size_t words; ///< of a row
  std::vector<uint32_t> order;
  std::vector<uint64_t> bits;
};

void TimedTasks::addExchange(
    const std::vector<std::pair<DeviceId, Picoseconds>> &busy,
    const std::vector<std::pair<DeviceId, DeviceId>> &met) {
  Task &task = addTask(Kind::Exchange);
  for (auto [device, duration] : busy)
    parts.push_back({device, duration});
  auto partOf = [&](DeviceId device) {
    auto at = std::lower_bound(busy.begin(), busy.end(),
                               std::make_pair(device, Picoseconds(-1)));
    return static_cast<size_t>(at - busy.begin());
  };
  Meetings meetings(busy.size());
  for (auto [device, duration] : busy) {
    Part &part = parts[task.firstPart + partOf(device)];
    part.isSent = part.isReceived = false;
  }
  for (auto [first, second] : met) {
    const size_t a = partOf(first), b = partOf(second);
    parts[task.firstPart + a].isSent = true;
    parts[task.firstPart + b].isReceived = true;
    meetings.add(a, b);
    meetings.add(b, a);
  }
  // A device may wait for itself. Where all send to all, all then wait for the
  // same ones; where some send to some others they do without.
  std::vector<uint32_t> numbers, others;
  uint32_t count = meetings.number(others);
  Meetings withSelf = meetings;
  for (size_t p = 0; p < busy.size(); ++p)
    withSelf.add(p, p);
  if (uint32_t fewer = withSelf.number(numbers); fewer < count) {
    count = fewer;
    meetings = std::move(withSelf);
  } else {
    numbers = std::move(others);
  }
  rendezvous.resize(task.firstRendezvous + count, {0, 0});
  for (size_t p = 0; p < busy.size(); ++p) {
    parts[task.firstPart + p].rendezvous = numbers[p];
    Rendezvous &group = rendezvous[task.firstRendezvous + numbers[p]];
    if (group.end > 0)
      continue;
    group.first = static_cast<uint32_t>(members.size());
    meetings.eachOf(
        p, [&](uint32_t other) { members.push_back(task.firstPart + other); });
    group.end = static_cast<uint32_t>(members.size());
  }
  task.endPart = static_cast<uint32_t>(parts.size());
  task.endRendezvous = static_cast<uint32_t>(rendezvous.size());
}

void TimedTasks::addExchange(const std::vector<CostModel::Transfer> &messages,
                             const CostModel &cost) {
  std::vector<std::pair<DeviceId, DeviceId>> met;
  for (const CostModel::Transfer &message : messages)
    met.push_back({message.src, message.dst});
  addExchange(cost.exchange(messages), met);
}

void TimedTasks::addLocal(DeviceId device, Picoseconds duration) {
  ++addTask(Kind::Local).endPart;
  parts.push_back({device, duration});
}

void TimedTasks::addWait(DeviceId device, size_t waited) {
  Task &task = addTask(Kind::Wait);
  task.waited = static_cast<uint32_t>(waited);
  ++task.endPart;
  parts.push_back({device, 0});
}

//===----------------------------------------------------------------------===//
// From a program
//===----------------------------------------------------------------------===//

namespace {
/// Durations of actions.
class Durations {
public:
  Durations(const Graph &graph, const Strategy &strategy,
            const Program &program, const CostModel &cost)
      : graph(graph), strategy(strategy), program(program), cost(cost),
        collectives(program, cost) {}

  /// Of a kernel or copy.
  Picoseconds local(ActionRef ref) const {
    return cost
        .local(ref.device,
               *workOf(graph, strategy, program.devices[ref.device],
                       program.action(ref), cost.profile() != nullptr))
        .time;
  }

  Picoseconds collective(ActionRef ref) const {
    return collectives.cost(ref).time;
  }

private:
  const Graph &graph;
  const Strategy &strategy;
  const Program &program;
  const CostModel &cost;
  const PlannedCollectives collectives;
};
} // namespace

/// What the parts of one exchange send.
static std::vector<CostModel::Transfer>
transfersOf(const Program &program, const std::vector<ActionRef> &parts) {
  std::vector<CostModel::Transfer> messages;
  for (ActionRef ref : parts)
    for (const Message &sent : program.action(ref).get<ExchangeAction>().sends)
      messages.push_back(
          {ref.device, sent.peer,
           program.devices[ref.device].buffers[sent.buffer].bytes});
  return messages;
}

TimedTasks::TimedTasks(const Graph &graph, const Strategy &strategy,
                       const Program &program, const CostModel &cost) {
  Durations durations(graph, strategy, program, cost);
  const std::vector<ActionRef> &order = program.order;
  // The part of each action, where it may be waited for.
  std::vector<std::vector<uint32_t>> partOf;
  for (const DeviceProgram &device : program.devices)
    partOf.emplace_back(device.actions.size());
  for (size_t i = 0, end = 0; i < order.size(); i = end) {
    end = i + numPartsAt(program, i);
    const ActionRef ref = order[i];
    program.action(ref).visit(
        [&](const KernelAction &) {
          addLocal(ref.device, durations.local(ref));
        },
        [&](const CopyAction &) { addLocal(ref.device, durations.local(ref)); },
        [&](const ExchangeAction &) {
          addExchange(transfersOf(program, {&order[i], &order[i] + (end - i)}),
                      cost);
        },
        [&](const CollectiveAction &collective) {
          addCollective(program.groups[collective.group],
                        durations.collective(ref));
        },
        [&](const WaitAction &wait) {
          addWait(ref.device, partOf[ref.device][wait.event]);
        },
        [&](const ProbeAction &) {
          // Only the last step dumps, and that is not timed.
          addLocal(ref.device, 0);
        });
    // Parts and actions are both in the order of devices.
    assert(parts.size() == end && "expected a part for every action");
    for (size_t a = i; a < end; ++a)
      partOf[order[a].device][order[a].index] = static_cast<uint32_t>(a);
  }
  markLate();
}

/// A part is waited for at once if its device's next one is the wait.
void TimedTasks::markLate() {
  std::vector<uint32_t> taskOf(parts.size(), kNone), next(parts.size(), kNone);
  std::map<DeviceId, uint32_t> last;
  for (uint32_t t = 0; t < tasks.size(); ++t)
    for (uint32_t p = tasks[t].firstPart; p < tasks[t].endPart; ++p) {
      taskOf[p] = t;
      if (auto it = last.find(parts[p].device); it != last.end())
        next[it->second] = p;
      last[parts[p].device] = p;
    }
  for (const Task &task : tasks)
    if (task.kind == Kind::Wait &&
        tasks[taskOf[task.waited]].kind == Kind::Exchange &&
        next[task.waited] != task.firstPart)
      tasks[taskOf[task.waited]].isLate = true;
  for (uint32_t t = 0; t < tasks.size(); ++t)
    if (tasks[t].isLate) {
      lateTask.resize(parts.size(), kNone);
      for (uint32_t p = tasks[t].firstPart; p < tasks[t].endPart; ++p)
        lateTask[p] = t;
    }
}

//===----------------------------------------------------------------------===//
// Sweep
//===----------------------------------------------------------------------===//

void TimedTasks::runExchange(const Task &task, QueueTimes times) const {
  // Reused, so that a sweep does not allocate.
  thread_local std::vector<Picoseconds> complete;
  complete.clear();
  for (uint32_t c = task.firstRendezvous; c < task.endRendezvous; ++c) {
    Picoseconds last = 0;
    for (uint32_t m = rendezvous[c].first; m < rendezvous[c].end; ++m)
      last = std::max(last, readyAt(times, parts[members[m]]));
    complete.push_back(last);
  }
  for (uint32_t p = task.firstPart; p < task.endPart; ++p) {
    const Part &part = parts[p];
    setEnd(times, part,
           std::max(readyAt(times, part), complete[part.rendezvous]) +
               part.duration);
  }
}

void TimedTasks::run(const Task &task, QueueTimes times) const {
  switch (task.kind) {
  case Kind::Local:
    for (uint32_t p = task.firstPart; p < task.endPart; ++p)
      times.local[parts[p].device] += parts[p].duration;
    break;
  case Kind::Collective: {
    Picoseconds start = 0;
    for (uint32_t p = task.firstPart; p < task.endPart; ++p)
      start = std::max(start, readyAt(times, parts[p]));
    for (uint32_t p = task.firstPart; p < task.endPart; ++p)
      setEnd(times, parts[p], start + parts[p].duration);
    break;
  }
  case Kind::Exchange:
    runExchange(task, times);
    break;
  case Kind::Wait:
    assert(false && "waits belong to programs");
  }
}

void TimedTasks::advance(QueueTimes times) const {
  for (const Task &task : tasks) {
    run(task, times);
    if (task.kind != Kind::Local)
      for (uint32_t p = task.firstPart; p < task.endPart; ++p)
        times.local[parts[p].device] =
            (parts[p].isSent ? times.network : times.receive)[parts[p].device];
  }
}

void TimedTasks::start(QueueTimes times, Picoseconds *ends) const {
  for (const Task &task : tasks) {
    run(task, times);
    // A member of several is done with the last.
    for (uint32_t p = task.firstPart; p < task.endPart; ++p)
      ends[parts[p].device] = times.network[parts[p].device];
  }
}

void TimedTasks::begin(QueueTimes times, bool isLate,
                       Picoseconds *marks) const {
  for (const Task &task : tasks) {
    const bool waits = isLate && task.kind == Kind::Exchange;
    if (!waits)
      run(task, times);
    for (uint32_t p = task.firstPart; p < task.endPart; ++p)
      marks[p] = waits ? readyAt(times, parts[p])
                       : (parts[p].isSent ? times.network
                                          : times.receive)[parts[p].device];
  }
}

Picoseconds TimedTasks::wait(Picoseconds *local, const Picoseconds *ends,
                             Picoseconds shift) const {
  Picoseconds lead = INT64_MAX;
  for (const Part &part : parts) {
    const Picoseconds end = ends[part.device] + shift;
    lead = std::min(lead, local[part.device] - end);
    local[part.device] = std::max(local[part.device], end);
  }
  return lead;
}
