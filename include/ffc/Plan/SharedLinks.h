//===- SharedLinks.h - times with links shared by everybody -----*- C++ -*-===//
//
// A second, slower model for final reports. In the first one (Timing.h) only
// the messages of one reshard share links with each other. Here everything that
// is under way at once does.
//
// A collective, and each device's part of an exchange, is a *flow*. It has the
// duration of the first model as its work, and takes a share of the bandwidth
// of every link that it crosses: its bytes over what could pass the link in
// that duration. Flows proceed at most at the speed at which they would alone;
// where the shares on a link add up to more than all of it, they slow down, to
// speeds that are fair in the max-min sense (Bertsekas and Gallager, Data
// Networks, 6.5.2): no flow can be faster unless one that is not faster gets
// slower.
//
// All else is as in TimedTask.h: the order of every queue, what starts when,
// and the duration of kernels; but what a device sends and what it receives are
// one queue here, and pass where they stand, also where it waits later (both of
// which only pipelines notice). So nothing is ever earlier than in the first
// model, and where no two flows share a link both agree to the picosecond.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_SHAREDLINKS_H
#define FFC_PLAN_SHAREDLINKS_H

#include "ffc/Plan/TimedTask.h"
#include "ffc/Plan/Timing.h"

#include <utility>
#include <vector>

namespace ffc::plan {

/// Requires a program without deadlock (verifyProgram).
Timeline timeWithSharedLinks(const Graph &graph, const Strategy &strategy,
                             const Program &program, const Topology &topology,
                             const CostModel &cost);

/// What part of a link's bandwidth a flow takes when it is alone, from 0 to 1,
/// for the links that it crosses.
using LinkShares = std::vector<std::pair<LinkId, double>>;

/// The model itself. `shares` by part of `tasks`: of an exchange for every
/// part, of a collective for the first one. Returns times by part.
std::vector<ActionTime>
timeWithSharedLinks(const TimedTasks &tasks,
                    const std::vector<LinkShares> &shares, int numDevices,
                    bool overlap);

} // namespace ffc::plan

#endif // FFC_PLAN_SHAREDLINKS_H
