//===- BestDevice.h - the best figures of any device ------------*- C++ -*-===//
//
// What bounds of a step's time count with, where devices may differ. Internal
// to Search.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_BESTDEVICE_H
#define FFC_LIB_SEARCH_BESTDEVICE_H

#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Reached.h"

#include <algorithm>
#include <cmath>

namespace ffc::search {

struct BestDevice {
  explicit BestDevice(const plan::Topology &topology) : topology(topology) {
    for (const plan::DeviceKind &kind : topology.kinds()) {
      launch = std::min(launch, static_cast<double>(kind.launch));
      collects |= kind.collectsKernels();
    }
  }

  /// Starts that a phase costs at least.
  int64_t starts(const plan::Phase &phase) const {
    return collects && phase.startsWithOthers ? 0 : phase.parts;
  }
  /// Picoseconds that these take.
  double startTime(const plan::Phase &phase) const {
    return static_cast<double>(starts(phase)) *
           least([&](const plan::DeviceKind &kind) {
             return static_cast<double>(kind.launch +
                                        reachedBy(kind, phase).ramp);
           });
  }

  /// What it takes then, from the time of its operations and of its bytes.
  /// However it is split, the times of its parts add up to no less.
  double busy(const plan::Phase &phase, double compute, double memory) const {
    return std::max(compute, memory) +
           std::min(compute, memory) * least([&](const plan::DeviceKind &kind) {
             return reachedBy(kind, phase).exposed;
           });
  }

  double flops(plan::Arithmetic arithmetic, const plan::Phase &phase) const {
    return most([&](const plan::DeviceKind &kind) {
      return plan::reachedFlops(kind, arithmetic, phase.kernel);
    });
  }
  /// Of memory.
  double bandwidth(const plan::Phase &phase) const {
    return most([&](const plan::DeviceKind &kind) {
      return plan::reachedBandwidth(kind, phase.kernel);
    });
  }

  /// The most operations per second of what `phase` may compute in: any of the
  /// types that it writes, or its narrow operands.
  double flops(const plan::Graph &graph, plan::OpId id,
               const plan::Phase &phase) const;

  const plan::Topology &topology;
  double launch = static_cast<double>(plan::kMaxCost); ///< picoseconds
  bool collects = false; ///< kernels that follow each other (CostModel::local)

private:
  static plan::Reached reachedBy(const plan::DeviceKind &kind,
                                 const plan::Phase &phase) {
    return plan::reachedBy(kind.generation, phase.kernel);
  }
  /// What `figure` says of the kinds.
  template <class Figure> double least(Figure figure) const {
    double least = HUGE_VAL;
    for (const plan::DeviceKind &kind : topology.kinds())
      least = std::min(least, figure(kind));
    return least;
  }
  template <class Figure> double most(Figure figure) const {
    double most = 0;
    for (const plan::DeviceKind &kind : topology.kinds())
      most = std::max(most, figure(kind));
    return most;
  }
};

/// Does the operator have something in this slot?
bool isPresent(const plan::Graph &graph, plan::OpId id, int slot);

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_BESTDEVICE_H
