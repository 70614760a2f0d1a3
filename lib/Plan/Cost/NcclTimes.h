//===- NcclTimes.h - how long NCCL's collectives take -----------*- C++ -*-===//
//
// NCCL chooses an algorithm (a ring of all members; trees; sums in switches,
// NVLS) and a protocol (LL, LL128, Simple: few bytes with little latency to
// many bytes) by a model of its own, a latency and a bandwidth for each pair of
// them, whose constants its source states. The same model with the bandwidths
// of our topologies is what collectives are priced by here. Internal to Plan.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_NCCLTIMES_H
#define FFC_LIB_PLAN_NCCLTIMES_H

#include "ffc/Plan/Cost.h"

namespace ffc::plan {

/// Of a group whose paths say that NCCL knows its devices.
CostModel::CollectiveCost byNccl(CollectiveKind kind,
                                 const CostModel::Paths &paths, int64_t bytes);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_NCCLTIMES_H
