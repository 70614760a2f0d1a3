//===- TaskGraph.h - the tasks of a step, by server -------------*- C++ -*-===//
//
// FlexNet's form of a training step (TopoOpt, NSDI'23): what servers compute,
// what they send each other, and all-reduces. Kernels, buffers and queues of
// communication are not in it. docs/task-graphs.md describes the file.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_TASKGRAPH_H
#define FFC_NETWORK_TASKGRAPH_H

#include "ffc/Network/Network.h"

#include <string>

namespace ffc::network {

/// What a task is. The values are those of files.
enum class TaskType : int16_t {
  Forward = 0,
  Backward = 1,
  LinkTransfer = 2, ///< on one link; the simulator's own, in no file
  Update = 3,
  Barrier = 4,
  Transfer = 5, ///< from one server to another
  AllReduce = 6,
};

struct NetworkTask {
  TaskType type = TaskType::Forward;
  /// Of computation: on whom, one task at a time, in order of readiness.
  VertexId server = 0;
  /// Of a transfer.
  VertexId src = 0, dst = 0;
  /// How long it computes; of an all-reduce, what is done inside of each server
  /// before. Files have 32-bit floats in milliseconds.
  float milliseconds = 0;
  int64_t bytes = 0; ///< of a transfer; of an all-reduce, the tensor's
  /// Tasks that cannot start before this one ends. An all-reduce has none.
  std::vector<int32_t> next;
  /// Of an all-reduce: servers in the order of the ring.
  std::vector<VertexId> members;
};

struct TaskGraph {
  int numServers = 0;
  std::vector<NetworkTask> tasks;
};

/// The tasks' times, added up, stay far below what picoseconds can count.
constexpr double kMaxTaskMilliseconds = 1e9;

/// What is wrong with a task graph that was made or read, in words, or nothing:
/// servers and tasks exist, times and sizes are not negative, transfers lead
/// from a server to another, members of an all-reduce differ, nothing follows
/// an all-reduce, and no task waits for itself.
std::string faultOf(const TaskGraph &graph);

} // namespace ffc::network

#endif // FFC_NETWORK_TASKGRAPH_H
