//===- TaskProblem.h - tasks and a network that a person writes -*- C++ -*-===//
//
// A text form of a task graph and its network, so that the models can be looked
// at, tried out and tested with exact times. The format is in
// docs/task-graphs.md.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_TASKPROBLEM_H
#define FFC_NETWORK_TASKPROBLEM_H

#include "ffc/Network/TaskGraph.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::network {

struct TaskProblem {
  TaskGraph graph;
  std::vector<std::string> names; ///< by task
  /// Pairs without a path of their own have the one with the fewest links, of
  /// those the one whose links come first.
  Network network;

  /// Does a file with these contents claim to be one? Others may be
  /// FlatBuffers.
  static bool isText(const std::string &contents);
  /// The contents of a file. On failure returns nothing and sets `error`
  /// ("FILE:LINE: ...").
  static std::optional<TaskProblem> parse(const std::string &text,
                                          const std::string &fileName,
                                          std::string &error);
};

/// Adds a path to each pair of servers that has none and that links lead from
/// one to the other of: the one with the fewest links, of those the one whose
/// links come first.
void addShortestPaths(Network &network);

} // namespace ffc::network

#endif // FFC_NETWORK_TASKPROBLEM_H
