//===- FlexFlowTimer.h - time of a step by FlexFlow's simulator -*- C++ -*-===//
//
// What FlexFlow's scripts/simulator.cc says that a step takes:
//
//   - a task for each part of a layer, forward and backward together, on its
//     device;
//   - for each pair of parts on two devices of which one reads what the other
//     wrote, a transfer: the elements that both have x 8 time steps x 4 bytes,
//     in every model, over the bandwidth between the devices. It waits in a
//     queue of the two parts' numbers, whatever the layers and the devices;
//   - tasks start in the order in which they are ready, then that of layers,
//     parts before transfers. The latest end on a device counts;
//   - then, one parameter after the other, its synchronisation: bytes x (most
//     devices of a node that have it, less one) over the bandwidth within a
//     node, plus bytes x (nodes that have it, less one) over that between
//     nodes. A linear layer's parameter goes in as many pieces as there are
//     devices, one after the other. Except for convolutions, 0.0001 ms less for
//     each square of how often a device has it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_FLEXFLOWTIMER_H
#define FFC_PLAN_FLEXFLOWTIMER_H

#include "ffc/Plan/FlexFlowModel.h"

#include <cstdint>
#include <limits>

namespace ffc::plan {

/// Which devices count as one node for transfers.
enum class FlexFlowNodes {
  /// Those with the same remainder by the devices of a node, as in the program.
  AsWritten,
  /// Those of a node, as it does for the synchronisation.
  AsMeant,
};

/// The time of a strategy that is edited. For one thread.
class FlexFlowTimer {
public:
  /// Starts with data parallelism. `model` must outlive the timer.
  explicit FlexFlowTimer(const FlexFlowModel &model,
                         FlexFlowNodes nodes = FlexFlowNodes::AsWritten);

  /// Milliseconds.
  float time() const { return current; }
  const FlexFlowStrategy &strategy() const { return splits; }

  struct Change {
    int layer = -1;
    FlexFlowSplit split;
  };
  static constexpr float kNoLimit = std::numeric_limits<float>::infinity();
  /// The time with `changes`, of distinct layers; if it is over `limit`, some
  /// number over `limit`. Must be followed by accept() or reject(). Takes the
  /// splits that were there in exchange.
  float propose(std::vector<Change> &changes, float limit = kNoLimit);
  /// Keeps the proposal, whose time must not be over its limit.
  void accept() { current = proposed; }
  /// `changes` as propose() left them, which become what they were.
  void reject(std::vector<Change> &changes);
  /// Takes another strategy.
  void assign(const FlexFlowStrategy &strategy);

private:
  /// A dependence of a part on one of the layer that it reads.
  struct Link {
    uint8_t src = 0, dst = 0; ///< parts
    bool isTransfer = false;
    float ms = 0;
  };
  /// All between two layers for one tensor, in the order in which the program
  /// makes them: by reader, then by what is read.
  struct Edge {
    int from = -1, to = -1;
    std::vector<Link> links;
    /// By part of `from`, where its links are: those at bySource[i] for i from
    /// starts[part] to starts[part + 1].
    std::vector<uint16_t> bySource, starts;
    uint32_t firstTask = 0; ///< number of its first transfer in its layer
  };

  float speed(DeviceId a, DeviceId b) const;
  void rebuild(Edge &edge) const;
  float synchronise(const FlexFlowParameter &parameter) const;
  float synchroniseLinear(const FlexFlowParameter &parameter) const;
  /// Fills partTimes and tails; returns what a device computes at least.
  float findBounds();
  void prepareTasks();
  void push(uint64_t entry);
  /// Something that a part waits for ends.
  void arrive(uint32_t layer, uint32_t part, float at);
  float runPart(uint32_t layer, uint32_t part, float readyAt);
  void runTransfer(uint32_t layer, uint32_t number, float readyAt);
  /// The latest end on a device, or something over `limit`.
  float simulate(float limit);

  const FlexFlowModel &model;
  FlexFlowNodes nodes;
  FlexFlowStrategy splits;
  std::vector<Edge> edges;                          ///< by reader
  std::vector<std::vector<int>> edgesOf, edgesFrom; ///< by layer
  std::vector<int> parameterOf;                     ///< by layer; -1: none
  std::vector<float> syncs;                         ///< by parameter
  float current = 0, proposed = 0;

  // What a proposal changed, and before it, by the same numbers.
  std::vector<int> staleEdges, staleParameters;
  std::vector<Edge> edgesBefore;
  std::vector<float> syncsBefore;

  // What simulate() uses.
  std::vector<uint64_t> queue; ///< tasks that are ready, a heap
  /// By layer: what a part takes, and what comes after its end at least.
  std::vector<float> partTimes, tails;
  std::vector<uint32_t> firstPart; ///< by layer, among all parts
  std::vector<uint32_t> waits;     ///< by part, for how many links
  std::vector<float> ready;        ///< by part
  std::vector<float> busy;         ///< by queue, until when
};

} // namespace ffc::plan

#endif // FFC_PLAN_FLEXFLOWTIMER_H
