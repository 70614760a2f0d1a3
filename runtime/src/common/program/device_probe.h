//===- device_probe.h - work that always takes the same ---------*- C++ -*-===//
#ifndef FFRT_COMMON_DEVICE_PROBE_H
#define FFRT_COMMON_DEVICE_PROBE_H

#include "common/device/memory.h"
#include "common/profiling/timestamps.h"
#include "ffrt/context.h"
#include "ffrt/noise.h"

namespace ffrt {

/// Work between two steps that shows whether a device is as fast as others of
/// its kind, where a rank only starts what the device computes: random numbers,
/// which take much arithmetic and little memory.
class DeviceProbe {
public:
  /// Of memory: less would take hardly longer than a start.
  static constexpr int64_t kLeastBytes = int64_t(64) << 10;

  /// Of the memory it takes as much as it needs, or all.
  DeviceProbe(Context &cx, IdleMemory memory);

  /// Waits for the device; returns the seconds that the work took it. Allocates
  /// nothing.
  double run();

private:
  Tensor from, to;
  Noise noise;
  Timestamps timestamps;
};

} // namespace ffrt

#endif // FFRT_COMMON_DEVICE_PROBE_H
