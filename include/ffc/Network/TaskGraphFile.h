//===- TaskGraphFile.h - FlexNet's task graphs as files ---------*- C++ -*-===//
//
// FlexNet writes a task graph with the network that it was made for as a
// FlatBuffer, and FlexNetPacket reads it (TopoOpt, NSDI'23). The format is in
// docs/task-graphs.md.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_TASKGRAPHFILE_H
#define FFC_NETWORK_TASKGRAPHFILE_H

#include "ffc/Network/TaskGraph.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::network {

/// Where the tasks come from; no task says which operator it belongs to.
struct FileOperator {
  uint64_t id = 0;
  uint64_t type = 0; ///< FlexFlow's number of it
  std::string name;
};

struct TaskGraphFile {
  TaskGraph graph;
  /// The file's connections, routes and rings. Files have no latencies, and one
  /// bandwidth for all interfaces, networkBandwidth; where they say 0, links
  /// have none until setSpeed() (NetworkBuilder.h).
  Network network;
  std::vector<FileOperator> operators;
  /// Pairs of servers that the file has devices for, in its order; transfers
  /// may use more.
  std::vector<std::pair<VertexId, VertexId>> pairs;
  int gpusPerServer = 1;
  /// In bytes per millisecond, of an interface and of what is in a server.
  /// FlexNet writes constants for the latter two; nothing here uses them.
  float networkBandwidth = 0, gpuBandwidth = 0, memoryBandwidth = 0;
};

/// `bytes` are a file's, `fileName` stands in messages. Ids of tasks and
/// devices may be any 64-bit numbers; tasks keep their order. On failure
/// returns nothing and sets `error` ("FILE: ...").
std::optional<TaskGraphFile> parseTaskGraph(const std::string &bytes,
                                            const std::string &fileName,
                                            std::string &error);
/// The same of the file at `path`.
std::optional<TaskGraphFile> loadTaskGraph(const std::string &path,
                                           std::string &error);

/// The inverse. What a file cannot say is an error: links of one direction
/// twice, or whose bandwidth is not networkBandwidth times their interfaces;
/// latencies are left out. The file must be whole (faultOf). On failure returns
/// nothing and sets `error`.
std::optional<std::string> printTaskGraph(const TaskGraphFile &file,
                                          std::string &error);

} // namespace ffc::network

#endif // FFC_NETWORK_TASKGRAPHFILE_H
