//===- TimeUse.h - where the time of a step goes ----------------*- C++ -*-===//
#ifndef FFC_PLAN_TIMEUSE_H
#define FFC_PLAN_TIMEUSE_H

#include "ffc/Plan/Simulation.h"

#include <vector>

namespace ffc::plan {

/// Sums of durations. Waiting for others is in none of them.
struct TimeUse {
  Picoseconds kernels = 0, copies = 0, communication = 0;

  Picoseconds total() const { return kernels + copies + communication; }
  bool operator==(const TimeUse &o) const {
    return kernels == o.kernels && copies == o.copies &&
           communication == o.communication;
  }
};

struct DeviceUse : TimeUse {
  /// When the device neither computes nor communicates. Where it does both at
  /// once, the parts add up to more than the step.
  Picoseconds idle = 0;
  int64_t stateBytes = 0, arenaBytes = 0;

  bool operator==(const DeviceUse &o) const {
    return TimeUse::operator==(o) && idle == o.idle &&
           stateBytes == o.stateBytes && arenaBytes == o.arenaBytes;
  }
};

/// By device.
std::vector<DeviceUse> useByDevice(const Simulation &simulation);
/// By operator, summed over all devices; of a batch of collectives, the share
/// of its bytes, rounded down. What is done for no operator
/// (completing outputs at the end) is the last element, one more than there are
/// operators.
std::vector<TimeUse> useByOperator(const Simulation &simulation);

} // namespace ffc::plan

#endif // FFC_PLAN_TIMEUSE_H
