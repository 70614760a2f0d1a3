//===- TestStep.h - steps of servers, for tests ------------------*- C++
//-*-===//
#ifndef FFC_TEST_UNIT_NETWORK_TESTSTEP_H
#define FFC_TEST_UNIT_NETWORK_TESTSTEP_H

#include "ffc/Network/TaskGraph.h"

#include <cstdint>
#include <numeric>
#include <vector>

namespace ffc::network {

/// A step in which every server computes forward and backward, transfers lie
/// between, and all-reduces follow.
class StepBuilder {
public:
  explicit StepBuilder(int servers) {
    graph.numServers = servers;
    for (int v = 0; v < servers; ++v)
      compute(TaskType::Forward, v);
    for (int v = 0; v < servers; ++v)
      compute(TaskType::Backward, v);
    for (int v = 0; v < servers; ++v)
      follow(v, servers + v);
  }

  StepBuilder &transfer(VertexId src, VertexId dst, int64_t bytes,
                        bool backward = false) {
    NetworkTask task;
    task.type = TaskType::Transfer;
    task.src = src;
    task.dst = dst;
    task.bytes = bytes;
    const int32_t number = add(task);
    follow(backward ? graph.numServers + src : src, number);
    if (!backward)
      follow(number, graph.numServers + dst);
    return *this;
  }

  StepBuilder &allReduce(std::vector<VertexId> members, int64_t bytes) {
    NetworkTask task;
    task.type = TaskType::AllReduce;
    task.members = members;
    task.bytes = bytes;
    const int32_t number = add(task);
    for (VertexId v : members)
      follow(graph.numServers + v, number);
    return *this;
  }

  TaskGraph graph;

private:
  void compute(TaskType type, VertexId server) {
    NetworkTask task;
    task.type = type;
    task.server = server;
    task.milliseconds = 1;
    add(task);
  }
  int32_t add(const NetworkTask &task) {
    graph.tasks.push_back(task);
    return static_cast<int32_t>(graph.tasks.size() - 1);
  }
  void follow(int32_t first, int32_t then) {
    graph.tasks[first].next.push_back(then);
  }
};

inline std::vector<VertexId> firstServers(int count) {
  std::vector<VertexId> servers(count);
  std::iota(servers.begin(), servers.end(), 0);
  return servers;
}

} // namespace ffc::network

#endif // FFC_TEST_UNIT_NETWORK_TESTSTEP_H
