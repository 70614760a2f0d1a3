//===- Simulate.cpp - when the tasks of a step end ------------------------===//

#include "ffc/Network/Simulate.h"

#include "GroupRings.h"

#include <algorithm>
#include <cmath>
#include <queue>

using namespace ffc::network;

static Picoseconds picosecondsOf(float milliseconds) {
  constexpr double kPicoseconds = 1e9;
  return static_cast<Picoseconds>(
      std::llround(static_cast<double>(milliseconds) * kPicoseconds));
}

static bool computes(const NetworkTask &task) {
  return task.type != TaskType::Transfer && task.type != TaskType::AllReduce;
}

namespace {

/// Flows that start together, and what comes when the last one has ended: a
/// round of a ring, half of an exchange, a transfer.
struct Round {
  int32_t task = 0;
  int32_t ring = 0;    ///< of a ring all-reduce: which one
  int32_t left = 0;    ///< rounds after this one
  int32_t pending = 0; ///< flows that have not ended
};

/// Something that ends at a time that is known: a computation, or the work in
/// the servers of an all-reduce.
struct TimedEnd {
  Picoseconds time = 0;
  int32_t task = 0;
  bool operator>(const TimedEnd &other) const {
    return std::pair(time, task) > std::pair(other.time, other.task);
  }
};

class Simulation {
public:
  Simulation(const TaskGraph &graph, const Network &network,
             Transport &transport, const SimulateOptions &options)
      : graph(graph), network(network), transport(transport), options(options),
        groups(network), waitsFor(graph.tasks.size()), queues(graph.numServers),
        busy(graph.numServers), rings(graph.tasks.size()) {
    step.compute.resize(graph.numServers);
    step.tasks.resize(graph.tasks.size());
    step.linkBytes.resize(network.links.size());
  }

  SimulatedStep run();

private:
  void startReady();
  void startNext(VertexId server);
  void startAllReduce(int32_t task);
  void startRound(int32_t round);
  void startRingRound(int32_t round);
  void startExchange(int32_t round);
  int32_t addRound(int32_t task, int32_t ring, int32_t left);
  void send(int32_t round, VertexId src, VertexId dst, int64_t bytes,
            const std::vector<LinkId> *by = nullptr);
  void endTimed(int32_t task);
  void endFlow(FlowId flow);
  void finish(int32_t task);

  const TaskGraph &graph;
  const Network &network;
  Transport &transport;
  const SimulateOptions &options;
  const GroupRings groups;
  SimulatedStep step;

  Picoseconds now = 0;
  std::vector<int32_t> waitsFor;           ///< by task: how many have not ended
  std::vector<int32_t> ready;              ///< became ready at this instant
  std::vector<std::queue<int32_t>> queues; ///< by server, ready to compute
  std::vector<char> busy;                  ///< by server
  std::priority_queue<TimedEnd, std::vector<TimedEnd>, std::greater<>> timed;
  std::vector<Round> rounds;
  std::vector<int32_t> roundOf; ///< by flow
  /// By task; of ring all-reduces that go on.
  std::vector<std::vector<std::vector<RingHop>>> rings;
};

} // namespace

/// A ring sends what all rounds would at once.
static bool isSmall(const NetworkTask &reduce) {
  constexpr int64_t kSmall = 9000;
  return reduce.bytes < kSmall * static_cast<int64_t>(reduce.members.size());
}

int32_t Simulation::addRound(int32_t task, int32_t ring, int32_t left) {
  Round round;
  round.task = task;
  round.ring = ring;
  round.left = left;
  rounds.push_back(round);
  return static_cast<int32_t>(rounds.size() - 1);
}

void Simulation::send(int32_t round, VertexId src, VertexId dst, int64_t bytes,
                      const std::vector<LinkId> *by) {
  bytes = std::max<int64_t>(bytes, 1);
  if (graph.tasks[rounds[round].task].type == TaskType::AllReduce)
    transport.startPart(src, dst, bytes, now, by);
  else
    transport.start(src, dst, bytes, now, by);
  step.flows.push_back({src, dst, bytes, now, kNever});
  auto carry = [&](const std::vector<LinkId> &links, double share) {
    for (LinkId link : links)
      step.linkBytes[link] += share * static_cast<double>(bytes);
  };
  if (by)
    carry(*by, 1);
  else
    for (const Path &path : network.paths.at({src, dst}))
      carry(path.links, path.share);
  roundOf.push_back(round);
  ++rounds[round].pending;
}

void Simulation::startRingRound(int32_t round) {
  const int32_t task = rounds[round].task;
  const std::vector<std::vector<RingHop>> &all = rings[task];
  const auto members = static_cast<int64_t>(graph.tasks[task].members.size());
  const auto parts = static_cast<int64_t>(all.size());
  const int64_t whole = graph.tasks[task].bytes;
  int64_t bytes = whole / members;
  if (isSmall(graph.tasks[task]))
    bytes = whole * 2 * (members - 1) / members / members;
  else if (transport.joinsRounds())
    bytes *= 2 * (members - 1);
  for (const RingHop &hop : all[rounds[round].ring])
    send(round, hop.src, hop.dst, bytes / parts,
         hop.links.empty() ? nullptr : &hop.links);
}

/// One half of a parameter server's work, or of a direct exchange.
void Simulation::startExchange(int32_t round) {
  const NetworkTask &task = graph.tasks[rounds[round].task];
  const std::vector<VertexId> &members = task.members;
  const auto count = static_cast<int64_t>(members.size());
  if (options.allReduce == AllReduceKind::Direct) {
    for (VertexId src : members)
      for (VertexId dst : members)
        if (src != dst)
          send(round, src, dst, task.bytes / count);
    return;
  }
  for (int64_t k = 1; k < count; ++k)
    if (rounds[round].left > 0)
      send(round, members[k], members[0], task.bytes);
    else
      send(round, members[0], members[k], task.bytes);
}

void Simulation::startRound(int32_t round) {
  if (options.allReduce == AllReduceKind::Ring)
    startRingRound(round);
  else
    startExchange(round);
}

/// After what is done inside of the servers.
void Simulation::startAllReduce(int32_t task) {
  const NetworkTask &reduce = graph.tasks[task];
  if (options.allReduce != AllReduceKind::Ring) {
    startRound(addRound(task, 0, 1));
    return;
  }
  rings[task] = groups.of(reduce.members);
  const auto members = static_cast<int32_t>(reduce.members.size());
  const bool isOne = isSmall(reduce) || transport.joinsRounds();
  for (size_t ring = 0; ring < rings[task].size(); ++ring)
    startRound(addRound(task, static_cast<int32_t>(ring),
                        isOne ? 0 : 2 * (members - 1) - 1));
}

void Simulation::startNext(VertexId server) {
  if (busy[server] || queues[server].empty())
    return;
  const int32_t task = queues[server].front();
  queues[server].pop();
  busy[server] = 1;
  const Picoseconds time = picosecondsOf(graph.tasks[task].milliseconds);
  step.compute[server] += time;
  step.tasks[task].start = now;
  timed.push({now + time, task});
}

void Simulation::startReady() {
  for (int32_t id : ready) {
    const NetworkTask &task = graph.tasks[id];
    step.tasks[id] = {now, now};
    if (computes(task)) {
      queues[task.server].push(id);
      startNext(task.server);
    } else if (task.type == TaskType::Transfer) {
      send(addRound(id, 0, 0), task.src, task.dst,
           std::max(task.bytes, options.leastTransfer));
    } else if (task.members.size() > 1) {
      const bool waits = options.allReduce == AllReduceKind::Ring;
      timed.push({now + (waits ? picosecondsOf(task.milliseconds) : 0), id});
    }
  }
  ready.clear();
}

void Simulation::finish(int32_t task) {
  step.finish = step.tasks[task].end = now;
  for (int32_t next : graph.tasks[task].next)
    if (--waitsFor[next] == 0)
      ready.push_back(next);
}

void Simulation::endTimed(int32_t id) {
  const NetworkTask &task = graph.tasks[id];
  if (task.type == TaskType::AllReduce) {
    startAllReduce(id);
    return;
  }
  busy[task.server] = 0;
  finish(id);
}

void Simulation::endFlow(FlowId flow) {
  step.flows[flow].end = now;
  const int32_t id = roundOf[flow];
  Round &round = rounds[id];
  if (--round.pending > 0)
    return;
  if (round.left == 0) {
    finish(round.task);
    return;
  }
  --round.left;
  startRound(id);
}

SimulatedStep Simulation::run() {
  for (const NetworkTask &task : graph.tasks)
    for (int32_t next : task.next)
      ++waitsFor[next];
  for (size_t i = 0; i < waitsFor.size(); ++i)
    if (waitsFor[i] == 0)
      ready.push_back(static_cast<int32_t>(i));
  startReady();
  std::vector<FlowId> ended;
  std::vector<VertexId> idle;
  while (true) {
    const Picoseconds event = transport.nextEvent();
    now = timed.empty() ? event : std::min(event, timed.top().time);
    if (now == kNever)
      return std::move(step);
    if (event == now) {
      ended.clear();
      transport.advance(now, ended);
      for (FlowId flow : ended)
        endFlow(flow);
    }
    idle.clear();
    while (!timed.empty() && timed.top().time == now) {
      const int32_t task = timed.top().task;
      timed.pop();
      endTimed(task);
      if (computes(graph.tasks[task]))
        idle.push_back(graph.tasks[task].server);
    }
    // Who was in the queue is before who becomes ready now.
    for (VertexId server : idle)
      startNext(server);
    startReady();
  }
}

std::set<std::pair<VertexId, VertexId>>
ffc::network::pairsThatSend(const TaskGraph &graph, const Network &network,
                            AllReduceKind allReduce) {
  const GroupRings groups(network);
  std::set<std::pair<VertexId, VertexId>> pairs;
  for (const NetworkTask &task : graph.tasks) {
    const std::vector<VertexId> &members = task.members;
    if (task.type == TaskType::Transfer)
      pairs.insert({task.src, task.dst});
    if (task.type != TaskType::AllReduce || members.size() < 2)
      continue;
    if (allReduce == AllReduceKind::Ring) {
      for (const std::vector<RingHop> &ring : groups.of(members))
        for (const RingHop &hop : ring)
          if (hop.links.empty())
            pairs.insert({hop.src, hop.dst});
      continue;
    }
    for (VertexId src : members)
      for (VertexId dst : members)
        if (src != dst && (allReduce == AllReduceKind::Direct ||
                           src == members[0] || dst == members[0]))
          pairs.insert({src, dst});
  }
  return pairs;
}

static std::string missingPath(const TaskGraph &graph, const Network &network,
                               AllReduceKind allReduce) {
  for (const auto &pair : pairsThatSend(graph, network, allReduce)) {
    auto paths = network.paths.find(pair);
    if (paths == network.paths.end() || paths->second.empty())
      return "expected a path between servers that send, found none from " +
             std::to_string(pair.first) + " to " + std::to_string(pair.second);
  }
  return "";
}

std::optional<SimulatedStep>
ffc::network::simulate(const TaskGraph &graph, const Network &network,
                       Transport &transport, const SimulateOptions &options,
                       std::string &error) {
  error = faultOf(graph);
  if (error.empty() && graph.numServers > network.numServers)
    error = "expected a network of at least " +
            std::to_string(graph.numServers) + " servers, found " +
            std::to_string(network.numServers);
  if (error.empty())
    error = missingPath(graph, network, options.allReduce);
  if (!error.empty())
    return std::nullopt;
  return Simulation(graph, network, transport, options).run();
}
