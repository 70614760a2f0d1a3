//===- CostInternals.h - arithmetic on times --------------------*- C++ -*-===//
//
// Internal to Plan.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_COSTINTERNALS_H
#define FFC_LIB_PLAN_COSTINTERNALS_H

#include "ffc/Plan/Cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

namespace ffc::plan {

constexpr double kPicosecondsPerSecond = 1e12;

/// Only multiplications, divisions and one rounding follow each other in what
/// is passed here, no sums that a compiler might fuse; so results are the same
/// everywhere.
inline Picoseconds toPicoseconds(double seconds) {
  const double value = seconds * kPicosecondsPerSecond;
  if (!(value < static_cast<double>(kMaxCost)))
    return kMaxCost;
  // llround(), which is a call into the library, of what is not negative.
  const auto whole = static_cast<Picoseconds>(value);
  return whole + (value - static_cast<double>(whole) >= 0.5);
}

inline Picoseconds sum(Picoseconds a, Picoseconds b) {
  return std::min(a + b, kMaxCost);
}

/// `count` times `each`, cut at kMaxCost.
inline Picoseconds times(int64_t count, Picoseconds each) {
  if (each != 0 && count > kMaxCost / each)
    return kMaxCost;
  return count * each;
}

/// Groups already looked at. Searches ask for the same few again and again; if
/// there are very many, starting over bounds the memory.
struct CostModel::PathCache {
  static constexpr size_t kMaxMembers = size_t(1) << 22;
  using Key = std::vector<std::vector<DeviceId>>;

  std::mutex mutex;
  std::map<Key, std::shared_ptr<const std::vector<Paths>>> paths;
  /// By members. Paths refer to them and outlive them.
  std::map<std::vector<DeviceId>, std::shared_ptr<const GroupSchedules>>
      schedules;
  size_t members = 0;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_COSTINTERNALS_H
