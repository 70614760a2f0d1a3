//===- ScheduleTime.h - how long a schedule takes ---------------*- C++ -*-===//
//
// A chunk leaves when its sender has it, with all that is reduced into it, and
// when every link of the way is free; it keeps each link for its bytes over the
// link's bandwidth, and arrives after the way's latency and its bytes over the
// narrowest one. A member starts one transfer a launch after the other.
//
// Latencies and bytes are swept apart and added up: a bound that is linear in
// the bytes, and exact where either does not matter. So are the two phases of
// an all-reduce, which overlap where members wait for different links.
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_SCHEDULETIME_H
#define FFC_LIB_PLAN_SCHEDULETIME_H

#include "MemberGraph.h"
#include "ffc/Plan/CollectiveSchedule.h"

#include <vector>

namespace ffc::plan {

/// Latency + bytes * secondsPerByte.
struct ScheduleTime {
  Picoseconds latency = 0;
  double secondsPerByte = 0;
};

ScheduleTime timeOf(const CollectiveSchedule &schedule,
                    const MemberGraph &graph);

/// What goes over each link of the graph, as a multiple of the bytes.
std::vector<double> loadsOf(const CollectiveSchedule &schedule,
                            const MemberGraph &graph);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_SCHEDULETIME_H
