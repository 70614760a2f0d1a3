//===- FlexNet.h - measurements of FlexNet ----------------------*- C++ -*-===//
//
// FlexNet's files (measure_*.json) tell operators apart by their structure, and
// times by how the operator is split. Which kernels they measured follows from
// a graph only.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_FLEXNET_H
#define FFC_PLAN_FLEXNET_H

#include "ffc/Plan/Profile.h"

#include <memory>
#include <string>

namespace ffc::plan {

/// Of a file of FlexNet's: the profile of the kernels that the measured
/// operators have in `graph`. Any other profile itself. On failure returns null
/// and sets `error`.
std::shared_ptr<const Profile>
profileForGraph(const std::shared_ptr<const Profile> &profile,
                const Graph &graph, const Topology &topology,
                std::string &error);

} // namespace ffc::plan

#endif // FFC_PLAN_FLEXNET_H
