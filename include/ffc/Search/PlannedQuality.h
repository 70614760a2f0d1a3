//===- PlannedQuality.h - how good a whole plan is --------------*- C++ -*-===//
#ifndef FFC_SEARCH_PLANNEDQUALITY_H
#define FFC_SEARCH_PLANNEDQUALITY_H

#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Search/Search.h"

#include <vector>

namespace ffc::search {

/// What plans are made of, besides strategies.
struct Planning {
  const plan::Graph &graph;
  const plan::Topology &topology;
  const plan::CostModel &cost; ///< that of the topology
  plan::Target target;         ///< whose programs say what takes which bytes
};

/// Judges strategies whose steps have orders of their own, one after the other:
/// what is alike in several of them is looked at once.
class PlanJudge {
public:
  /// What `planning` refers to must outlive it.
  explicit PlanJudge(const Planning &planning);

  /// The simulated time, exactly. The bytes are those of the plan, or, of plans
  /// of more than plan::kMostPlannedPoints, the bound of ScheduledStep and a
  /// fifth of it. Of such a plan whose micro-batches are not alike nothing is
  /// known: kMaxCost, and no memory is enough.
  Quality quality(const plan::Strategy &strategy,
                  const plan::PipelineSchedule &schedule);
  /// The same; if it is not better than `best`, some quality that is not.
  Quality qualityIfBetter(const plan::Strategy &strategy,
                          const plan::PipelineSchedule &schedule,
                          const Quality &best);

  const Planning &planning() const { return of; }

  /// What was done so far, in grid points of plans, of which a thousand take
  /// some tens of milliseconds. The same on every machine.
  int64_t work() const { return done; }
  /// No search does more: about a minute of one core.
  static constexpr int64_t kMostWork = 8000000;

private:
  const Planning of;
  const std::vector<int64_t> room; ///< by device
  plan::SegmentTable table;
  int64_t done = 0;
};

} // namespace ffc::search

#endif // FFC_SEARCH_PLANNEDQUALITY_H
