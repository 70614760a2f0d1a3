//===- BestDevice.h - the best figures of any device ------------*- C++ -*-===//
//
// What bounds of a step's time count with, where devices may differ. Internal
// to Search.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_BESTDEVICE_H
#define FFC_LIB_SEARCH_BESTDEVICE_H

#include "ffc/Plan/Cost.h"

#include <algorithm>

namespace ffc::search {

struct BestDevice {
  explicit BestDevice(const plan::Topology &topology) : topology(topology) {
    for (const plan::DeviceKind &kind : topology.kinds()) {
      launch = std::min(launch, static_cast<double>(kind.launch));
      bandwidth = std::max(bandwidth, kind.memoryBandwidth);
      collects |= kind.collectsKernels();
    }
  }

  /// Starts that a phase costs at least.
  int64_t starts(const plan::Phase &phase) const {
    return collects && phase.startsWithOthers ? 0 : phase.parts;
  }

  double flops(plan::Arithmetic arithmetic) const {
    double best = 0;
    for (const plan::DeviceKind &kind : topology.kinds())
      best = std::max(best, kind.flopsPerSecond(arithmetic));
    return best;
  }

  /// The most operations per second of what `phase` may compute in: any of the
  /// types that it writes, or its narrow operands.
  double flops(const plan::Graph &graph, plan::OpId id,
               const plan::Phase &phase) const;

  const plan::Topology &topology;
  double launch = static_cast<double>(plan::kMaxCost); ///< picoseconds
  double bandwidth = 0;                                ///< of memory
  bool collects = false; ///< kernels that follow each other (CostModel::local)
};

/// Does the operator have something in this slot?
bool isPresent(const plan::Graph &graph, plan::OpId id, int slot);

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_BESTDEVICE_H
