//===- rate_schedule.h - the learning rate over the steps -------*- C++ -*-===//
#ifndef FFRT_COMMON_RATE_SCHEDULE_H
#define FFRT_COMMON_RATE_SCHEDULE_H

#include <cstdint>

namespace ffrt {

/// Rises in proportion over the first `warmup` steps, from 0, then stays, or
/// falls to `last` at step `steps`, the first that is not done: in proportion,
/// or as a half wave of the cosine.
struct RateSchedule {
  enum Form { constant, linear, cosine };
  Form form = constant;
  double rate = 0, last = 0;
  int64_t warmup = 0, steps = 0;

  /// Of a step, counted from 0.
  double at(int64_t step) const;
};

} // namespace ffrt

#endif // FFRT_COMMON_RATE_SCHEDULE_H
