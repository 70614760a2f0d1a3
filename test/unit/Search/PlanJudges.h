//===- PlanJudges.h - judges of plans for tests -----------------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_SEARCH_PLANJUDGES_H
#define FFC_TEST_UNIT_SEARCH_PLANJUDGES_H

#include "TestGraph.h"
#include "ffc/Search/PlannedQuality.h"

#include <memory>

namespace ffc::search::testing {

/// Arguments must outlive it.
inline std::unique_ptr<PlanJudge> judgeOf(const plan::testing::TestGraph &g,
                                          const plan::Topology &topology,
                                          const plan::CostModel &cost) {
  return std::make_unique<PlanJudge>(
      Planning{g.graph, topology, cost, plan::Target::CPU});
}

} // namespace ffc::search::testing

#endif // FFC_TEST_UNIT_SEARCH_PLANJUDGES_H
