//===- StageEstimate.h - about the time of a stage, quickly -----*- C++ -*-===//
//
// Internal to Search. What StageSolver would find, from sums over layers that
// are made once: all of the stage on one lane, with what is computed again for
// one of some prices of memory, and in between linear.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_STAGEESTIMATE_H
#define FFC_LIB_SEARCH_STAGEESTIMATE_H

#include "StageSolver.h"

#include <unordered_map>

namespace ffc::search {

class StageEstimate {
public:
  /// The arguments must outlive it.
  StageEstimate(const plan::StageModel &model, const StageSegments &segments,
                const StageSolver &solver, double limit);

  /// In microseconds; StageSolver::kNever if it does not fit.
  double time(const StagePlace &place) const;

private:
  struct Point {
    double time = 0, kept = 0;
  };
  /// By price.
  using Points = std::vector<Point>;
  /// Reads of ranges of operators on a lane.
  struct LaneSums {
    std::vector<double> weights; ///< of all operators before
    /// By power of two and operator, the most of so many from there on.
    std::vector<std::vector<double>> forward, backward;
    /// By cap on the peak, of all layers before.
    std::vector<std::vector<Points>> layers;
  };

  double timeOn(const StagePlace &place, const Lane &lane, double bound) const;
  const LaneSums &sumsOf(const Lane &lane) const;
  const Points &pointsOf(const Lane &lane, int begin, int end, bool isLast,
                         size_t peak) const;
  static double most(const std::vector<std::vector<double>> &table, int begin,
                     int end);

  const plan::StageModel &model;
  const StageSegments &segments;
  const StageSolver &solver;
  const double limit;
  std::vector<double> prices;
  mutable std::map<Lane, LaneSums> sums;
  mutable std::map<const Segment *, Points> points;
  using Key = std::tuple<int, int, int, int, int>;
  mutable std::map<Key, double> times;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_STAGEESTIMATE_H
