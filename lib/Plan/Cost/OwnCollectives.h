//===- OwnCollectives.h - collectives by schedules --------------*- C++ -*-===//
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_OWNCOLLECTIVES_H
#define FFC_LIB_PLAN_OWNCOLLECTIVES_H

#include "ffc/Plan/Cost.h"

namespace ffc::plan {

/// By one of the schedules of the paths.
CostModel::CollectiveCost bySchedule(CollectiveKind kind,
                                     const CollectiveSchedule &schedule,
                                     const CostModel::Paths &paths,
                                     int64_t bytes);

/// Takes the fastest schedule in place of `best` where it is faster.
void improveByOwn(CostModel::Choice &best, CollectiveKind kind,
                  const CostModel::Paths &paths, int64_t bytes);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_OWNCOLLECTIVES_H
