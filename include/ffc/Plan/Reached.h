//===- Reached.h - what kernels reach of a device's figures -----*- C++ -*-===//
//
// Data sheets say what a device could do. What kernels were measured to do is
// less, by shares that differ with the kind of kernel, and small ones do not
// keep a device busy to their end. docs/topology.md says where the shares come
// from. Kinds without a generation (DeviceKind::generation) reach their
// figures.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_REACHED_H
#define FFC_PLAN_REACHED_H

#include "ffc/Plan/Topology.h"
#include "ffc/Plan/Units.h"

#include <string_view>

namespace ffc::plan {

struct Reached {
  double flops = 1;     ///< share of the rate of operations, from 0 to 1
  double bandwidth = 1; ///< share of the memory's bandwidth
  /// What does not hide behind the longer of the two, of the shorter.
  double exposed = 0;
  /// What a kernel, or a part of one, takes besides its launch (
  /// DeviceKind::launch): it neither begins nor ends on all of the device.
  Picoseconds ramp = 0;
};

/// `kernel` as in Phase::kernel, or the name of a copy (LocalWork.h).
Reached reachedBy(GpuGeneration generation, std::string_view kernel);

/// Bytes, and operations, per second of a kernel on devices of a kind.
double reachedBandwidth(const DeviceKind &kind, std::string_view kernel);
double reachedFlops(const DeviceKind &kind, Arithmetic arithmetic,
                    std::string_view kernel);

} // namespace ffc::plan

#endif // FFC_PLAN_REACHED_H
