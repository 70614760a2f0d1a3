//===- TaskGraph.cpp - is a task graph whole? -----------------------------===//

#include "ffc/Network/TaskGraph.h"

#include <cmath>
#include <set>

using namespace ffc::network;

static bool isServer(const TaskGraph &graph, VertexId server) {
  return server >= 0 && server < graph.numServers;
}

static std::string serversOf(const TaskGraph &graph) {
  return std::to_string(graph.numServers) + " servers";
}

static std::string faultOfTransfer(const TaskGraph &graph,
                                   const NetworkTask &task) {
  if (isServer(graph, task.src) && isServer(graph, task.dst) &&
      task.src != task.dst)
    return "";
  return "expected a transfer between two of " + serversOf(graph) +
         ", found one from " + std::to_string(task.src) + " to " +
         std::to_string(task.dst);
}

static std::string faultOfAllReduce(const TaskGraph &graph,
                                    const NetworkTask &task) {
  if (!task.next.empty())
    return "expected nothing after an all-reduce, found " +
           std::to_string(task.next.size()) + " tasks";
  if (task.members.empty())
    return "expected an all-reduce with members, found none";
  std::set<VertexId> members;
  for (VertexId member : task.members) {
    if (!isServer(graph, member))
      return "expected an all-reduce among " + serversOf(graph) +
             ", found member " + std::to_string(member);
    if (!members.insert(member).second)
      return "expected each member of an all-reduce once, found " +
             std::to_string(member) + " twice";
  }
  return "";
}

static std::string faultOfTask(const TaskGraph &graph,
                               const NetworkTask &task) {
  if (!(task.milliseconds >= 0 && task.milliseconds <= kMaxTaskMilliseconds))
    return "expected a time from 0 to 1e9 ms, found " +
           std::to_string(task.milliseconds) + " ms";
  if (task.bytes < 0)
    return "expected a size of 0 bytes or more, found " +
           std::to_string(task.bytes);
  for (int32_t next : task.next)
    if (next < 0 || static_cast<size_t>(next) >= graph.tasks.size())
      return "expected one of " + std::to_string(graph.tasks.size()) +
             " tasks to follow, found " + std::to_string(next);
  switch (task.type) {
  case TaskType::Forward:
  case TaskType::Backward:
  case TaskType::Update:
  case TaskType::Barrier:
    return isServer(graph, task.server)
               ? ""
               : "expected one of " + serversOf(graph) + " to compute, found " +
                     std::to_string(task.server);
  case TaskType::Transfer:
    return faultOfTransfer(graph, task);
  case TaskType::AllReduce:
    return faultOfAllReduce(graph, task);
  case TaskType::LinkTransfer:
    break;
  }
  return "expected a task of type 0, 1 or 3 to 6, found type " +
         std::to_string(static_cast<int>(task.type));
}

/// Tasks that wait for each other are never reached from those that wait for
/// none.
static std::string faultOfOrder(const TaskGraph &graph) {
  std::vector<int32_t> waitsFor(graph.tasks.size());
  for (const NetworkTask &task : graph.tasks)
    for (int32_t next : task.next)
      ++waitsFor[next];
  std::vector<int32_t> ready;
  for (size_t i = 0; i < waitsFor.size(); ++i)
    if (waitsFor[i] == 0)
      ready.push_back(static_cast<int32_t>(i));
  size_t reached = 0;
  while (!ready.empty()) {
    const int32_t task = ready.back();
    ready.pop_back();
    ++reached;
    for (int32_t next : graph.tasks[task].next)
      if (--waitsFor[next] == 0)
        ready.push_back(next);
  }
  if (reached == graph.tasks.size())
    return "";
  size_t waiting = 0;
  while (waitsFor[waiting] == 0)
    ++waiting;
  return "expected tasks without a cycle, found task " +
         std::to_string(waiting) + " in one or after one";
}

std::string ffc::network::faultOf(const TaskGraph &graph) {
  double milliseconds = 0;
  for (size_t i = 0; i < graph.tasks.size(); ++i) {
    if (std::string fault = faultOfTask(graph, graph.tasks[i]); !fault.empty())
      return "task " + std::to_string(i) + ": " + fault;
    milliseconds += static_cast<double>(graph.tasks[i].milliseconds);
  }
  if (milliseconds > kMaxTaskMilliseconds)
    return "expected tasks of at most 1e9 ms together, found " +
           std::to_string(milliseconds) + " ms";
  return faultOfOrder(graph);
}
