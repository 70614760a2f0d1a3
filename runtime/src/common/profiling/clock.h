//===- clock.h - one clock for all ranks ------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_CLOCK_H
#define FFRT_COMMON_CLOCK_H

#include "ffrt/comm.h"

namespace ffrt {

/// Collective. How many nanoseconds this rank's monotonic clock (Trace::now) is
/// ahead of that of rank 0. Ranks of one machine have one clock; others measure
/// it by messages to and fro, to about half of the shortest round trip.
int64_t clock_offset(Comm &comm, const Group &world);

} // namespace ffrt

#endif // FFRT_COMMON_CLOCK_H
