//===- Traffic.cpp - sums of a task graph ---------------------------------===//

#include "ffc/Network/Traffic.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace ffc::network;

double AllReduceGroup::sentByEach() const {
  const double count = static_cast<double>(members.size());
  return 2 * (count - 1) / count * bytes;
}

double AllReduceGroup::sentOnRing(int rings) const {
  constexpr double kRounds = 9000; // bytes of a member, in simulate()
  const double count = static_cast<double>(members.size());
  double parts = 0;
  for (int64_t tensor : tensors) {
    const double part = static_cast<double>(tensor) / rings;
    parts += part < kRounds * count ? part / count : part;
  }
  return 2 * (count - 1) / count * parts;
}

static bool computes(const NetworkTask &task) {
  return task.type != TaskType::Transfer && task.type != TaskType::AllReduce &&
         task.type != TaskType::LinkTransfer;
}

/// The longest chain of computation, or all that one server computes.
static ffc::network::Picoseconds computationOf(const TaskGraph &graph) {
  const size_t count = graph.tasks.size();
  std::vector<int> before(count);
  for (const NetworkTask &task : graph.tasks)
    for (int32_t next : task.next)
      ++before[next];
  std::vector<size_t> ready;
  for (size_t i = 0; i < count; ++i)
    if (before[i] == 0)
      ready.push_back(i);
  std::vector<double> start(count), busy(graph.numServers);
  double longest = 0;
  while (!ready.empty()) {
    const size_t i = ready.back();
    ready.pop_back();
    const NetworkTask &task = graph.tasks[i];
    double end = start[i];
    if (computes(task)) {
      end += task.milliseconds;
      busy[task.server] += task.milliseconds;
    }
    longest = std::max(longest, end);
    for (int32_t next : task.next) {
      start[next] = std::max(start[next], end);
      if (--before[next] == 0)
        ready.push_back(static_cast<size_t>(next));
    }
  }
  for (double milliseconds : busy)
    longest = std::max(longest, milliseconds);
  return std::llround(longest * 1e9);
}

/// Which group has those members, by their ascending numbers.
static std::map<std::vector<VertexId>, size_t>
indexGroups(const std::vector<AllReduceGroup> &groups) {
  std::map<std::vector<VertexId>, size_t> index;
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<VertexId> members = groups[i].members;
    std::sort(members.begin(), members.end());
    index[members] = i;
  }
  return index;
}

Traffic ffc::network::trafficOf(const TaskGraph &graph) {
  Traffic traffic;
  const int n = traffic.numServers = graph.numServers;
  traffic.forward = traffic.backward = traffic.messages = Demand(n);
  traffic.computation = computationOf(graph);

  std::vector<bool> followsForward(graph.tasks.size());
  for (const NetworkTask &task : graph.tasks)
    if (task.type == TaskType::Forward)
      for (int32_t next : task.next)
        followsForward[next] = true;

  std::map<std::vector<VertexId>, size_t> groupOf;
  for (size_t i = 0; i < graph.tasks.size(); ++i) {
    const NetworkTask &task = graph.tasks[i];
    const double bytes = static_cast<double>(task.bytes);
    if (task.type == TaskType::Transfer && task.src != task.dst) {
      (followsForward[i] ? traffic.forward : traffic.backward)
          .at(task.src, task.dst) += bytes;
      ++traffic.messages.at(task.src, task.dst);
    }
    if (task.type != TaskType::AllReduce || task.members.size() < 2)
      continue;
    std::vector<VertexId> members = task.members;
    std::sort(members.begin(), members.end());
    const auto [group, added] = groupOf.insert({members, groupOf.size()});
    if (added)
      traffic.groups.push_back({task.members, 0, {}});
    traffic.groups[group->second].bytes += bytes;
    traffic.groups[group->second].tensors.push_back(task.bytes);
  }
  return traffic;
}

TaskGraph ffc::network::divideAllReduces(const TaskGraph &graph,
                                         const Traffic &traffic,
                                         const std::vector<RingOrders> &rings) {
  const std::map<std::vector<VertexId>, size_t> groupOf =
      indexGroups(traffic.groups);
  TaskGraph divided = graph;
  // The first part of a task keeps its number; the others', by that number.
  std::vector<std::vector<int32_t>> others(graph.tasks.size());
  for (size_t i = 0; i < graph.tasks.size(); ++i) {
    const NetworkTask &task = graph.tasks[i];
    if (task.type != TaskType::AllReduce || task.members.size() < 2)
      continue;
    std::vector<VertexId> members = task.members;
    std::sort(members.begin(), members.end());
    const RingOrders &ways = rings[groupOf.at(members)];
    const int64_t parts =
        std::clamp<int64_t>(task.bytes, 1, static_cast<int64_t>(ways.size()));
    for (int64_t part = 0; part < parts; ++part) {
      NetworkTask piece = task;
      piece.bytes = task.bytes / parts + (part < task.bytes % parts);
      piece.members = ways[static_cast<size_t>(part)];
      if (part == 0) {
        divided.tasks[i] = std::move(piece);
      } else {
        others[i].push_back(static_cast<int32_t>(divided.tasks.size()));
        divided.tasks.push_back(std::move(piece));
      }
    }
  }
  for (size_t i = 0; i < graph.tasks.size(); ++i)
    for (int32_t next : graph.tasks[i].next)
      divided.tasks[i].next.insert(divided.tasks[i].next.end(),
                                   others[next].begin(), others[next].end());
  return divided;
}
