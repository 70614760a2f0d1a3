//===- speed_probe.h - how fast the machine is just now ---------*- C++ -*-===//
#ifndef FFRT_CPU_SPEED_PROBE_H
#define FFRT_CPU_SPEED_PROBE_H

#include "ffrt/comm.h"

#include <vector>

namespace ffrt {

/// What a fixed piece of work took, in seconds.
struct Speed {
  double compute = 0.0; ///< products of matrices, 0.3 GFLOP
  double memory = 0.0;  ///< 16 MB copied
};

/// Does a fixed piece of work. Times are compared with those of other calls in
/// the same process or on the same machine, and mean nothing by themselves.
class SpeedProbe {
public:
  SpeedProbe();
  Speed measure();

private:
  std::vector<float> from, to;
};

/// The median of some calls in a row, on all ranks at once. Comparable with
/// that of another process, where single calls depend on what ran before.
Speed steady_speed(SpeedProbe &probe, Comm &comm);

/// The median of each.
Speed median(const std::vector<Speed> &speeds);

/// How much longer work took at `speed` than at `reference`, about 1.
double slowdown(const Speed &speed, const Speed &reference);

} // namespace ffrt

#endif // FFRT_CPU_SPEED_PROBE_H
