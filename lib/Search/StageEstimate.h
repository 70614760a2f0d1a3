//===- StageEstimate.h - about the time of a stage, quickly -----*- C++ -*-===//
//
// Internal to Search. About what StageSolver would find, by prices of memory:
// for each of some, every part of a layer is done as is cheapest, and the best
// that fits is taken. All of a stage is on one lane, from sums over parts that
// are made once; in shorter chains whose layouts have prices lanes may change
// between parts, and a sweep from the end of a stage gives all its beginnings.
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

  /// Stages that take no longer will be asked for; longer ones may be said
  /// never to fit.
  void reach(double time);

  /// In microseconds; StageSolver::kNever if it does not fit.
  double time(const StagePlace &place) const;

private:
  struct Point {
    double time = 0, kept = 0, forwardReserved = 0, backwardReserved = 0;
  };
  /// By price.
  using Points = std::vector<Point>;
  /// Reads of ranges of operators on a lane.
  struct LaneSums {
    std::vector<double> weights; ///< of all operators before
    /// By power of two and operator, the most of so many from there on.
    std::vector<std::vector<double>> forward, backward;
    /// By cap on the peak, of all layers before.
    std::vector<std::vector<Points>> parts;
    /// By cap, of the operators from one on to the end of its part, and of
    /// those of a part before an operator, where a stage ends; null: not asked
    /// for yet.
    std::map<double, std::vector<const Points *>> heads, tails;
  };
  struct Sweep;

  double timeOn(const StagePlace &place, const Lane &lane, double bound) const;
  LaneSums &sumsOf(const Lane &lane) const;
  const Points &pointsOf(const Lane &lane, int begin, int end, bool isLast,
                         double peak) const;
  const Points &headOf(const Lane &lane, LaneSums &sum, int begin,
                       double peak) const;
  const Points &tailOf(const Lane &lane, LaneSums &sum, int end,
                       double peak) const;
  /// By first operator, of stages with this end and devices.
  std::vector<double> sweep(const StagePlace &place,
                            const std::vector<Lane> &lanes) const;
  bool sweepAt(Sweep &sweep, size_t without, size_t price, double peak) const;
  static double most(const std::vector<std::vector<double>> &table, int begin,
                     int end);

  const plan::StageModel &model;
  const StageSegments &segments;
  const StageSolver &solver;
  const double limit;
  double longest = 0;
  std::vector<double> prices;
  mutable std::map<Lane, LaneSums> sums;
  mutable std::map<const Segment *, Points> points;
  using Key = std::tuple<int, int, int, int, int>;
  mutable std::map<Key, double> times;
  mutable std::map<Key, std::vector<double>> sweeps;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_STAGEESTIMATE_H
