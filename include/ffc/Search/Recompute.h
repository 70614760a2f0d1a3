//===- Recompute.h - strategies that keep less ------------------*- C++ -*-===//
//
// Makes strategies that do not fit into memory fit: which forward operators are
// computed again in the backward pass, and whether parameters are sent again
// (ffc/Plan/Recomputation.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_SEARCH_RECOMPUTE_H
#define FFC_SEARCH_RECOMPUTE_H

#include "ffc/Search/PlannedQuality.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::search {

/// A choice of what to keep: forward operators are cut into segments of about
/// as many bytes of results at the places over which least is read later; what
/// is read over a cut is kept (the checkpoints of Chen et al., 2016, section
/// 4), and so is the last segment. Of the others those are computed again that
/// take least for a byte, up to a share of their bytes (selective
/// recomputation; Korthikanti et al., MLSys 2023, section 5).
struct Checkpoints {
  int segments = 1;
  double share = 1;
};

class Recomputable {
public:
  /// Arguments must outlive it.
  Recomputable(const plan::Graph &graph, const plan::CostModel &cost);

  /// Forward operators whose results the backward pass reads or needs for what
  /// it reads, in graph order.
  const std::vector<plan::OpId> &operators() const { return forward; }
  /// About what is there at once with so many segments: what is kept, and the
  /// results of one.
  int64_t bytesOf(int segments) const;
  /// With which that is least.
  int leastSegments() const;
  /// Those that are computed again.
  std::vector<plan::OpId> chosen(const Checkpoints &checkpoints) const;

private:
  std::vector<size_t> cuts(int segments) const;

  const plan::Graph &graph;
  std::vector<plan::OpId> forward;
  std::vector<int64_t> bytes;     ///< of results, by place in `forward`
  std::vector<int64_t> crossing;  ///< read behind it, by place
  std::vector<double> perByte;    ///< picoseconds, by place
  std::vector<size_t> lastReader; ///< place, of those in `forward`
};

struct Recomputation {
  std::string name; ///< of what it was made: "data-parallel"
  plan::Strategy strategy;
  plan::PipelineSchedule schedule;
  Quality quality;
  int operators = 0, parameters = 0; ///< so many are done again
  /// "data-parallel, 12 operators computed again"
  std::string describe() const;
};

/// A strategy to make fit, with its time as it is.
struct Unfitting {
  std::string name;
  plan::Strategy strategy;
  plan::PipelineSchedule schedule;
  plan::Picoseconds makespan = 0;
};

/// The best found of `starts` that is better than `best`, by the simulated time
/// and the bytes of its plan; nothing if there is none. If it does not fit,
/// nothing does. Ends, with what was found so far, when `goesOn` says no before
/// a plan; empty: always yes.
std::optional<Recomputation>
bestRecomputation(PlanJudge &judge, std::vector<Unfitting> starts,
                  const Quality &best,
                  const std::function<bool()> &goesOn = nullptr);

} // namespace ffc::search

#endif // FFC_SEARCH_RECOMPUTE_H
