//===- OpPlanner.h - the tasks of one operator ------------------*- C++ -*-===//
//
// Internal to Plan: appends the kernels of an operator under a configuration,
// and notes which parts of its results are where. How its operands get where
// they are needed is up to the caller.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_OPPLANNER_H
#define FFC_LIB_PLAN_OPPLANNER_H

#include "Graph/MemoryOrders.h"
#include "Placement.h"
#include "ffc/Plan/PipelineSchedule.h"

#include <functional>
#include <map>
#include <unordered_map>

namespace ffc::plan {

/// Points of `config` without those that would compute on a device what an
/// earlier point computes there already (replicas on one device).
std::vector<int64_t> distinctPoints(const Op &op, const Configuration &config);

/// Those of them that have a turn of the operator.
std::vector<int64_t> pointsOf(const Op &op, const Configuration &config,
                              const Turn &turn);

/// The parts of a result that a turn of its operator writes, each once, in
/// row-major order.
std::vector<Need> writtenIn(const Graph &graph, ValueId value, const Turn &turn,
                            const Configuration &config);

/// Where a state that is updated lives: what its update writes. Each once.
std::vector<Need> homeOf(const Graph &graph, StateId state,
                         const Configuration &update);

/// The first read of a value in a turn of an operator, and the reshard's first
/// step.
struct FirstRead {
  ReshardTask first;
  std::vector<Need> needed;
};
FirstRead firstRead(const Graph &graph, const MemoryOrders &orders,
                    ValueId value, const Turn &reader,
                    const Configuration &config);

/// A read of an operator that wants its parts, by a reshard from `first` on.
struct OperandRead {
  OpId op;
  int slot;
  ReshardTask first;
  const std::string &name; ///< of the tensor
  const TensorType &type;
  const std::vector<Need> &needed; ///< by point; may repeat
};

class OpPlanner {
public:
  using PlacementOf = std::function<Placement &(ValueId)>;
  /// Makes everything needed a holding of the placement.
  using Provide = std::function<void(Placement &, const OperandRead &)>;
  /// The buffer of the state in which a part of a value is to be written; -1:
  /// one of its own.
  using StateBufferOf = std::function<BufferId(ValueId, const Need &)>;

  OpPlanner(const Graph &graph, const MemoryOrders &orders, TaskSink &sink,
            PlacementOf placementOf, Provide provide,
            StateBufferOf stateBufferOf)
      : graph(graph), orders(orders), sink(sink),
        placementOf(std::move(placementOf)), provide(std::move(provide)),
        stateBufferOf(std::move(stateBufferOf)) {}

  /// `config` must be legal for `turn.op`.
  void plan(const Turn &turn, const Configuration &config);

private:
  /// The partial groups of one result while its points are planned.
  struct OpenGroups {
    std::map<Box, int> byBox;
    /// By group and device: the member's buffer.
    std::unordered_map<uint64_t, BufferId> members;
  };
  static uint64_t memberKey(int group, DeviceId device) {
    return static_cast<uint64_t>(group) << 32 | static_cast<uint32_t>(device);
  }

  Placement &placement(OpId op, int slot);
  bool present(OpId op, int slot) const;
  std::string slotName(OpId op, int slot) const;
  void planPhase(const Turn &turn, int phaseIndex, const Phase &phase,
                 const Configuration &config,
                 const std::vector<int64_t> &points);
  BufferId sumSoFar(const Region &region, DeviceId device) const;
  BufferId addPartial(Placement &where, const SlotWrite &write, DeviceId device,
                      const Region &region, MemoryOrder order, BufferId buffer);

  const Graph &graph;
  const MemoryOrders &orders;
  TaskSink &sink;
  PlacementOf placementOf;
  Provide provide;
  StateBufferOf stateBufferOf;
  std::map<int, Placement> internals; ///< by slot, of the current operator
  OpenGroups open;
  /// Of results that are sums over the turns of their operators, by operator
  /// and slot.
  std::map<std::pair<OpId, int>, OpenGroups> overTurns;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_OPPLANNER_H
