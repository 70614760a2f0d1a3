//===- StageSolver.h - the fastest way to do one stage ----------*- C++ -*-===//
//
// Internal to Search. Given the operators of a stage, its devices and how many
// stages follow: the splits, algorithms and recomputation with the least time
// that fit into memory. It is a multiple-choice knapsack over the segments of
// the stage (StageSegments.h), whose linear relaxation (a price per MiB) bounds
// what is left to choose.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_STAGESOLVER_H
#define FFC_LIB_SEARCH_STAGESOLVER_H

#include "StageKnapsack.h"

namespace ffc::search {

/// Where a stage is in the pipeline.
struct StagePlace {
  int first = 0, end = 0;
  int devices = 1;
  int later = 0;  ///< stages that follow
  int before = 0; ///< devices of those in front
};

class StageSolver {
public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// The arguments must outlive it. `limit` in MiB.
  StageSolver(const plan::StageProfile &profile, const plan::StageModel &model,
              const StageSegments &segments, int microBatch, int devicesPerNode,
              double limit);

  /// The least time that is found, in microseconds; kNever if none fits.
  double time(const StagePlace &place) const;
  /// The stage that takes it.
  plan::PlannedStage stage(const StagePlace &place) const;

  /// The least time of operators [0, end) in any split, times its devices: no
  /// stages are done with them sooner than this over their devices.
  double workBefore(int end) const { return work[end]; }

  /// How often the weights are in memory.
  double parametersPerWeight() const {
    return 2 + model.masterCopies + model.optimizerStates;
  }

  /// The time to change from one lane to another before operator `op`, forward
  /// and backward.
  std::pair<double, double> change(int op, int devices, const Lane &from,
                                   const Lane &to) const {
    return timer.reshard(op, devices, microBatch, {from.tensor, 0, false},
                         {to.tensor, 0, false});
  }
  /// What comes in and goes out on a lane, in microseconds.
  double transfers(const StagePlace &place, const Lane &lane) const;

  /// Lanes of a stage of so many devices, without those whose groups of
  /// devices would be in two nodes.
  std::vector<Lane> lanes(int devices, int before) const;
  /// A number for which of its lanes a stage has.
  static int laneSet(const std::vector<Lane> &lanes) {
    int set = 0;
    for (const Lane &lane : lanes)
      set = 67 * set + lane.tensor;
    return set;
  }

private:
  struct Choice {
    double time = kNever;
    std::vector<Lane> lanes; ///< by segment
    std::vector<const SegmentOption *> options;
    double weights = 0;
    bool isFine = false;
  };

  /// Segments are operators if nothing is computed again, so that lanes may
  /// change anywhere; else parts of layers.
  static bool isFine(const std::vector<Lane> &lanes, const SegmentCaps &caps) {
    return caps.peak == 0 && lanes.size() > 1;
  }
  int endOfSegment(const StagePlace &place, int begin, bool isFine) const;
  plan::PlannedStage solve(const StagePlace &place, double &time) const;
  Choice search(const StagePlace &place, const std::vector<Lane> &lanes,
                double room) const;
  std::vector<double> peaksOf(const StagePlace &place, const Lane &lane) const;
  std::vector<double> capsOf(const std::vector<Lane> &lanes, int first, int end,
                             double plan::StageRow::*field) const;
  /// What can be reached with some caps, about.
  struct Capped {
    double time = kNever;
    std::vector<Lane> lanes;
    SegmentCaps caps;
  };
  Capped searchCaps(const StagePlace &place, const std::vector<Lane> &lanes,
                    double room, double peak) const;
  Choice solveCaps(const StagePlace &place, const std::vector<Lane> &lanes,
                   double room, const SegmentCaps &caps, double bound) const;
  Knapsack knapsackOf(const StagePlace &place, const std::vector<Lane> &lanes,
                      const SegmentCaps &caps) const;
  plan::PlannedStage stageOf(const StagePlace &place,
                             const Choice &choice) const;

  const plan::StageProfile &profile;
  const plan::StageModel &model;
  const plan::StageTimer timer;
  const StageSegments &segments;
  const int microBatch, devicesPerNode;
  const double limit;
  std::vector<double> work;

  struct Solved {
    double time = kNever;
    plan::PlannedStage stage;
  };
  /// What of a place matters.
  using Key = std::tuple<int, int, int, int, int, int>;
  Key keyOf(const StagePlace &place) const;
  const Solved &solvedAt(const StagePlace &place) const;
  mutable std::map<Key, Solved> solved;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_STAGESOLVER_H
