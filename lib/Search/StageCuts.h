//===- StageCuts.h - where a chain is cut into stages -----------*- C++ -*-===//
//
// Internal to Search: the outer part of searchStages (Stages.h) for one size of
// micro-batches.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_STAGECUTS_H
#define FFC_LIB_SEARCH_STAGECUTS_H

#include "StageEstimate.h"

#include "ffc/Search/Stages.h"

namespace ffc::search {

/// Stages from the first to the last, and what an iteration takes with them,
/// (m - 1) max t + sum t in microseconds.
struct StageDivision {
  double iteration = StageSolver::kNever;
  double slowest = 0;
  std::vector<StagePlace> places;
};

class StageCuts {
public:
  /// The arguments must outlive it.
  StageCuts(const plan::StageModel &model, const StageSegments &segments,
            const StageSolver &solver, StageEstimate &estimate,
            const StageSearchOptions &options, int microBatches);

  /// What no iteration is faster than.
  double least() const;
  /// What no iteration is faster than that widen() has not looked for.
  double next() const { return microBatches * within; }
  /// Looks for divisions with slower stages, of an estimated time below
  /// `bound`.
  void widen(double bound);
  /// Those that were found, different in their numbers of devices, best first.
  const std::vector<StageDivision> &divisions() const { return found; }
  /// The best cuts found for the devices of `division`, with solved stages.
  StageDivision refine(const StageDivision &division, double bound);

private:
  struct Label {
    double slowest = 0, sum = 0;
    int end = 0, devices = 0; ///< of the stage
    size_t behind = 0;        ///< label of the next stage
  };
  /// By position, for some number of stages and of devices.
  using Labels = std::vector<std::vector<Label>>;

  double iterationOf(const Label &label) const {
    return (microBatches - 1) * label.slowest + label.sum;
  }
  std::vector<int> positions(int mostOps) const;
  std::vector<int> fewPositions() const;
  std::vector<StageDivision> divisionsWithin(double slowest, double bound);
  void addStages(int later, int devices, const Labels &behind, double slowest,
                 double bound, std::vector<Labels> &to) const;
  void add(std::vector<Label> &labels, const Label &label) const;
  StageDivision reach(const StageDivision &division, double slowest);

  const plan::StageModel &model;
  const StageSegments &segments;
  const StageSolver &solver;
  StageEstimate &estimate;
  const StageSearchOptions &options;
  const int microBatches;
  /// Where stages may begin, and the end: in divisions, and when solved.
  const std::vector<int> places, allPlaces;
  double within = 0; ///< how slow stages may be
  std::vector<StageDivision> found;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_STAGECUTS_H
