//===- SentMessages.h - messages that travel beside kernels -----*- C++ -*-===//
//
// Internal to Plan: what turns of a pipeline sent and nobody has waited for so
// far, by value and part of the samples.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_SENTMESSAGES_H
#define FFC_LIB_PLAN_SENTMESSAGES_H

#include "ProgramBuilder.h"
#include "ffc/Plan/Reshard.h"

#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ffc::plan {

class SentMessages {
public:
  /// Arguments must outlive it.
  SentMessages(const Graph &graph, ProgramBuilder &build)
      : graph(graph), build(build) {}

  static constexpr int kAllParts = std::numeric_limits<int>::max();
  /// So many micro-batches later, what was sent is expected to be received.
  static constexpr int kUnreleased = 2;

  /// Notes the waits of a reshard to `received`, buffers by device.
  void add(ValueId value, int part, const TaskSink::Waits &waits,
           std::set<std::pair<DeviceId, BufferId>> received);
  /// Does a reshard send on what has not come so far?
  bool areReadBy(ValueId value, const ReshardPlan &plan,
                 const Holdings &holdings) const;

  /// Receivers wait for the parts of a value up to this one.
  void finish(ValueId value, int last) { wait(underWay, value, last); }
  /// Senders wait until the parts of a value up to this one are received, and
  /// have their memory back.
  void release(ValueId value, int last) { wait(unreleased, value, last); }
  void releaseAll();

private:
  struct Sent {
    int part = 0;
    TaskSink::Waits waits;
    std::set<std::pair<DeviceId, BufferId>> received;
  };
  using Parts = std::map<ValueId, std::vector<Sent>>;

  void wait(Parts &parts, ValueId value, int last);

  const Graph &graph;
  ProgramBuilder &build;
  Parts underWay, unreleased;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_SENTMESSAGES_H
