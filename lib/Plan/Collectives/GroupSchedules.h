//===- GroupSchedules.h - what algorithms a group can choose from -*- C++
//-*-===//
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_GROUPSCHEDULES_H
#define FFC_LIB_PLAN_GROUPSCHEDULES_H

#include "ScheduleTime.h"

#include <memory>
#include <string>
#include <vector>

namespace ffc::plan {

/// A schedule and how long it takes when nothing else uses its links. One in
/// which only neighbours talk stands twice: its messages may go by the routes,
/// or by the links between the two.
struct TimedSchedule {
  std::shared_ptr<const CollectiveSchedule> schedule;
  ScheduleTime time;
  /// What goes over links of the topology, ascending, as multiples of the
  /// bytes.
  std::vector<std::pair<LinkId, double>> loads;
};

/// By collective.
struct GroupSchedules {
  /// Of the algorithms that some size is fastest by, those with the least
  /// latency first.
  std::vector<TimedSchedule> allReduce, allGather, reduceScatter;

  const std::vector<TimedSchedule> &of(CollectiveKind kind) const;
};

/// Of at most kMaxScheduleMembers; empty for more. Trees and greedy schedules,
/// which take the longest to make, are left out where all members are
/// neighbours and simpler ones leave less than a fiftieth of what they can
/// receive. With an algorithm's name, of that one only.
GroupSchedules schedulesOf(const Topology &topology,
                           const std::vector<DeviceId> &members,
                           const std::string &only = "");

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_GROUPSCHEDULES_H
