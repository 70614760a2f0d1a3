//===- PlanTasks.cpp - plans as tasks of servers --------------------------===//

#include "ffc/Network/PlanTasks.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ffc::network;
using namespace ffc::plan;

using TaskIndex = int32_t;

static float milliseconds(Picoseconds time) {
  return static_cast<float>(static_cast<double>(time) * 1e-9);
}

namespace {

class PlanWriter {
public:
  PlanWriter(const Simulation &simulation, const CostModel &cost,
             const ServerInside &inside);

  ServerTasks run();

private:
  void writeParts(size_t begin, size_t end);
  void writeLocal(ActionRef ref);
  void writeExchange(const std::vector<ActionRef> &members);
  void writeCollective(const std::vector<ActionRef> &members);
  void writeGradients(const CollectiveAction &collective, int64_t bytes,
                      const std::vector<VertexId> &servers, int gpus);
  void writeRing(const std::vector<ActionRef> &members,
                 const std::vector<VertexId> &servers, int rounds,
                 int64_t bytes);
  void writeInside(const std::vector<ActionRef> &members, VertexId server,
                   Picoseconds time);

  /// Closes the task that the server computes, so that what comes next does not
  /// wait for what follows. Returns its last task, -1 if it has none.
  TaskIndex last(VertexId server);
  TaskIndex add(NetworkTask task);
  void follow(TaskIndex before, TaskIndex after);
  /// What comes next on the server follows `task`.
  void waitFor(VertexId server, TaskIndex task) {
    servers[server].waits.insert(task);
  }
  /// Ends of an action, which the device's wait for it waits for.
  void endsWith(ActionRef ref, TaskIndex task) {
    ends[ref.device][ref.index].push_back(task);
  }

  bool isOfUpdate(ActionRef ref) const;
  VertexId serverOf(DeviceId device) const {
    return simulation.topology.device(device).node;
  }
  TaskType typeOf(OpId op) const;

  const Simulation &simulation;
  const CostModel &cost;
  const ServerInside &inside;
  ServerTasks result;

  /// What a server is at.
  struct Server {
    TaskIndex task = -1; ///< the one that is open; -1: none
    OpId op = -1;
    std::map<DeviceId, Picoseconds> times; ///< of the open one
    TaskIndex before = -1;                 ///< the last closed one
    std::set<TaskIndex> waits;             ///< what the next one follows
  };
  std::vector<Server> servers;
  std::vector<std::map<int, std::vector<TaskIndex>>>
      ends; ///< by device, action
  /// By device: the updates that read what all-reduces of the file make, which
  /// nothing can wait for, and how long those take.
  struct LeftOut {
    std::set<OpId> updates;
    Picoseconds time = 0;
  };
  std::vector<LeftOut> leftOut;
};

} // namespace

PlanWriter::PlanWriter(const Simulation &simulation, const CostModel &cost,
                       const ServerInside &inside)
    : simulation(simulation), cost(cost), inside(inside),
      servers(simulation.topology.nodes().size()),
      ends(simulation.program.devices.size()),
      leftOut(simulation.program.devices.size()) {
  result.graph.numServers = static_cast<int>(servers.size());
  const auto &ops = simulation.graph.ops;
  for (size_t id = 0; id < ops.size(); ++id)
    result.operators.push_back({id + 1, 0, ops[id].name});
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

TaskIndex PlanWriter::add(NetworkTask task) {
  result.graph.tasks.push_back(std::move(task));
  return static_cast<TaskIndex>(result.graph.tasks.size()) - 1;
}

void PlanWriter::follow(TaskIndex before, TaskIndex after) {
  if (before < 0)
    return;
  std::vector<int32_t> &next = result.graph.tasks[before].next;
  if (next.empty() || next.back() != after)
    next.push_back(after);
}

TaskType PlanWriter::typeOf(OpId op) const {
  if (op < 0)
    return TaskType::Forward;
  switch (simulation.graph.op(op).role) {
  case OpRole::Forward:
  case OpRole::Loss:
    return TaskType::Forward;
  case OpRole::Gradient:
    return TaskType::Backward;
  case OpRole::Update:
    return TaskType::Update;
  }
  return TaskType::Forward;
}

TaskIndex PlanWriter::last(VertexId number) {
  Server &server = servers[number];
  if (server.task >= 0) {
    Picoseconds longest = 0;
    for (const auto &[device, time] : server.times)
      longest = std::max(longest, time);
    result.graph.tasks[server.task].milliseconds = milliseconds(longest);
    server.before = server.task;
    server.task = -1;
    server.times.clear();
  }
  return server.before;
}

void PlanWriter::writeLocal(ActionRef ref) {
  const Action &action = simulation.action(ref);
  if (LeftOut &out = leftOut[ref.device];
      out.updates.count(action.task.op) > 0) {
    out.time += simulation.time(ref).busy;
    return;
  }
  const VertexId number = serverOf(ref.device);
  Server &server = servers[number];
  if (server.task < 0 || server.op != action.task.op || !server.waits.empty()) {
    const TaskIndex before = last(number);
    NetworkTask task;
    task.type = typeOf(action.task.op);
    task.server = number;
    server.task = add(std::move(task));
    server.op = action.task.op;
    follow(before, server.task);
    for (TaskIndex waited : server.waits)
      if (waited != before)
        follow(waited, server.task);
    server.waits.clear();
  }
  server.times[ref.device] += simulation.time(ref).busy;
}

void PlanWriter::writeInside(const std::vector<ActionRef> &members,
                             VertexId number, Picoseconds time) {
  if (time == 0)
    return;
  Server &server = servers[number];
  const TaskIndex before = last(number);
  NetworkTask task;
  task.type = typeOf(simulation.action(members[0]).task.op);
  task.server = number;
  task.milliseconds = milliseconds(time);
  const TaskIndex made = add(std::move(task));
  follow(before, made);
  for (TaskIndex waited : server.waits)
    follow(waited, made);
  server.waits.clear();
  server.before = made;
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

void PlanWriter::writeExchange(const std::vector<ActionRef> &members) {
  std::map<DeviceId, ActionRef> partOf;
  for (ActionRef ref : members)
    partOf[ref.device] = ref;
  struct Pair {
    int64_t bytes = 0;
    std::set<DeviceId> senders, receivers;
  };
  std::map<std::pair<VertexId, VertexId>, Pair> pairs;
  std::map<VertexId, std::vector<CostModel::Transfer>> local;
  for (ActionRef ref : members) {
    const auto &buffers = simulation.program.devices[ref.device].buffers;
    for (const Message &sent :
         simulation.action(ref).get<ExchangeAction>().sends) {
      const VertexId src = serverOf(ref.device), dst = serverOf(sent.peer);
      const int64_t bytes = buffers[sent.buffer].bytes;
      if (src == dst) {
        local[src].push_back({ref.device, sent.peer, bytes});
        continue;
      }
      Pair &pair = pairs[{src, dst}];
      pair.bytes += bytes;
      pair.senders.insert(ref.device);
      pair.receivers.insert(sent.peer);
    }
  }
  for (const auto &[server, messages] : local) {
    Picoseconds longest = 0;
    for (const auto &[device, busy] : cost.exchange(messages))
      longest = std::max(longest, busy);
    writeInside(members, server, longest);
  }
  for (const auto &[between, pair] : pairs) {
    NetworkTask task;
    task.type = TaskType::Transfer;
    task.src = between.first;
    task.dst = between.second;
    task.bytes = std::max<int64_t>(pair.bytes, 1);
    const TaskIndex before = last(between.first);
    const TaskIndex made = add(std::move(task));
    follow(before, made);
    for (TaskIndex waited : servers[between.first].waits)
      follow(waited, made);
    for (const auto *side : {&pair.senders, &pair.receivers})
      for (DeviceId device : *side)
        endsWith(partOf[device], made);
  }
}

/// Is what the collective makes read by one update alone?
bool PlanWriter::isOfUpdate(ActionRef ref) const {
  const Action &action = simulation.action(ref);
  const auto &collective = action.get<CollectiveAction>();
  const DeviceProgram &device = simulation.program.devices[ref.device];
  const ValueId value = device.buffers[collective.dst].value;
  const OpId reader = action.task.op;
  if (collective.kind != CollectiveKind::AllReduce || value < 0 || reader < 0 ||
      simulation.graph.op(reader).role != OpRole::Update)
    return false;
  const auto &uses = simulation.graph.value(value).uses;
  return std::all_of(uses.begin(), uses.end(),
                     [&](const Use &use) { return use.op == reader; });
}

void PlanWriter::writeGradients(const CollectiveAction &collective,
                                int64_t bytes,
                                const std::vector<VertexId> &members,
                                int gpus) {
  NetworkTask task;
  task.type = TaskType::AllReduce;
  task.bytes = bytes;
  task.members = members;
  task.milliseconds = static_cast<float>(inside.allReduce(gpus, bytes));
  std::vector<TaskIndex> before;
  for (VertexId server : members) {
    before.push_back(last(server));
    before.insert(before.end(), servers[server].waits.begin(),
                  servers[server].waits.end());
  }
  const TaskIndex made = add(std::move(task));
  for (TaskIndex each : before)
    follow(each, made);
}

/// Every server sends its share to the next one in each round, once it has what
/// the one before sent it in the last round.
void PlanWriter::writeRing(const std::vector<ActionRef> &members,
                           const std::vector<VertexId> &ring, int rounds,
                           int64_t bytes) {
  const size_t count = ring.size();
  std::vector<TaskIndex> received(count, -1);
  for (int round = 0; round < rounds; ++round) {
    std::vector<TaskIndex> sent(count);
    for (size_t i = 0; i < count; ++i) {
      NetworkTask task;
      task.type = TaskType::Transfer;
      task.src = ring[i];
      task.dst = ring[(i + 1) % count];
      task.bytes = std::max<int64_t>(bytes, 1);
      const TaskIndex before = last(ring[i]);
      sent[i] = add(std::move(task));
      if (round == 0) {
        follow(before, sent[i]);
        for (TaskIndex waited : servers[ring[i]].waits)
          follow(waited, sent[i]);
      } else {
        follow(received[i], sent[i]);
      }
    }
    for (size_t i = 0; i < count; ++i)
      received[(i + 1) % count] = sent[i];
  }
  for (ActionRef ref : members)
    for (size_t i = 0; i < count; ++i)
      if (ring[i] == serverOf(ref.device) && received[i] >= 0)
        endsWith(ref, received[i]);
}

void PlanWriter::writeCollective(const std::vector<ActionRef> &members) {
  const Action &action = simulation.action(members[0]);
  const auto &collective = action.get<CollectiveAction>();
  const int64_t bytes = collectiveBytes(
      simulation.program.devices[members[0].device], collective);
  std::map<VertexId, std::vector<DeviceId>> byServer;
  for (ActionRef ref : members)
    byServer[serverOf(ref.device)].push_back(ref.device);
  std::vector<VertexId> ring;
  size_t gpus = 1;
  for (const auto &[server, devices] : byServer) {
    ring.push_back(server);
    gpus = std::max(gpus, devices.size());
  }
  if (ring.size() > 1 && isOfUpdate(members[0])) {
    writeGradients(collective, bytes, ring, static_cast<int>(gpus));
    for (ActionRef ref : members)
      leftOut[ref.device].updates.insert(action.task.op);
    return;
  }
  for (const auto &[server, devices] : byServer)
    if (devices.size() > 1)
      writeInside(members, server,
                  cost.collective(collective.kind, devices, bytes));
  const int count = static_cast<int>(ring.size());
  if (count == 1)
    return;
  if (collective.kind == CollectiveKind::AllReduce)
    return writeRing(members, ring, 2 * (count - 1), bytes / count);
  if (collective.kind != CollectiveKind::Broadcast)
    return writeRing(members, ring, count - 1, bytes / count);
  // From the root to all.
  const DeviceId root =
      simulation.program.groups[collective.group][collective.root];
  for (const auto &[server, devices] : byServer) {
    if (server == serverOf(root))
      continue;
    NetworkTask task;
    task.type = TaskType::Transfer;
    task.src = serverOf(root);
    task.dst = server;
    task.bytes = std::max<int64_t>(bytes, 1);
    const TaskIndex before = last(task.src);
    const VertexId src = task.src;
    const TaskIndex made = add(std::move(task));
    follow(before, made);
    for (TaskIndex waited : servers[src].waits)
      follow(waited, made);
    for (ActionRef ref : members)
      if (serverOf(ref.device) == server || ref.device == root)
        endsWith(ref, made);
  }
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

void PlanWriter::writeParts(size_t begin, size_t end) {
  const Program &program = simulation.program;
  for (size_t at = begin, after = 0; at < end; at = after) {
    after = at + numPartsAt(program, at);
    const std::vector<ActionRef> members(&program.order[at],
                                         &program.order[at] + (after - at));
    const Action &action = program.action(members[0]);
    auto waits = [&](ActionRef ref, int event) {
      for (TaskIndex task : ends[ref.device][event])
        waitFor(serverOf(ref.device), task);
    };
    if (action.is<KernelAction>() || action.is<CopyAction>())
      writeLocal(members[0]);
    else if (action.is<ExchangeAction>())
      writeExchange(members);
    else if (action.is<CollectiveAction>())
      writeCollective(members);
    else if (const auto *wait = action.as<WaitAction>())
      waits(members[0], wait->event);
    if (isCommunication(action) && !simulation.times.overlaps)
      for (ActionRef ref : members)
        waits(ref, ref.index);
  }
}

ServerTasks PlanWriter::run() {
  const Program &program = simulation.program;
  const int rounds = simulation.graph.microBatches;
  const size_t repeated = rounds > 1 ? numMicroBatchActions(program) : 0;
  for (int round = 0; repeated > 0 && round < rounds; ++round) {
    for (auto &device : ends)
      device.clear();
    writeParts(0, repeated);
  }
  writeParts(repeated, program.order.size());
  for (size_t s = 0; s < servers.size(); ++s)
    last(static_cast<VertexId>(s));
  Picoseconds updates = 0;
  for (const LeftOut &out : leftOut)
    updates = std::max(updates, out.time);
  if (updates > 0)
    result.notes.push_back(
        "without updates of " +
        formatQuantity(static_cast<double>(updates), QuantityKind::Time) +
        ", for nothing can follow an all-reduce");
  return std::move(result);
}

ServerTasks ffc::network::planTasks(const Simulation &simulation,
                                    const CostModel &cost,
                                    const ServerInside &given) {
  ServerInside inside = given;
  if (inside.bandwidth == 0)
    inside.bandwidth = bandwidthInside(simulation.topology);
  return PlanWriter(simulation, cost, inside).run();
}
