//===- PlannedQuality.h - how good a whole plan is --------------*- C++ -*-===//
#ifndef FFC_SEARCH_PLANNEDQUALITY_H
#define FFC_SEARCH_PLANNEDQUALITY_H

#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Search/Search.h"

namespace ffc::search {

/// By the tasks of the plan: its simulated time and its exact bytes, as the
/// target of the devices has them.
Quality plannedQuality(const plan::Graph &graph, const plan::Topology &topology,
                       const plan::CostModel &cost,
                       const plan::Strategy &strategy,
                       const plan::PipelineSchedule &schedule);

} // namespace ffc::search

#endif // FFC_SEARCH_PLANNEDQUALITY_H
