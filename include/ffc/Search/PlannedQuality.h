//===- PlannedQuality.h - how good a whole plan is --------------*- C++ -*-===//
#ifndef FFC_SEARCH_PLANNEDQUALITY_H
#define FFC_SEARCH_PLANNEDQUALITY_H

#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Search/Search.h"

namespace ffc::search {

/// What plans are made of, besides strategies.
struct Planning {
  const plan::Graph &graph;
  const plan::Topology &topology;
  const plan::CostModel &cost; ///< that of the topology
  plan::Target target;         ///< whose programs say what takes which bytes
};

/// By the tasks of the plan: its simulated time and its exact bytes.
Quality plannedQuality(const Planning &planning, const plan::Strategy &strategy,
                       const plan::PipelineSchedule &schedule);

} // namespace ffc::search

#endif // FFC_SEARCH_PLANNEDQUALITY_H
