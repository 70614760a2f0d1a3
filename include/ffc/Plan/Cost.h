//===- Cost.h - how long kernels and transfers take -------------*- C++ -*-===//
//
// All times are integer picoseconds, so that plans are compared exactly.
// Kernels follow a roofline (Williams et al., CACM 2009); transfers and
// collectives an alpha-beta model on the topology's routes (Thakur et al.,
// IJHPCA 2005, for the ring algorithms).
//
// Every cost grows with its bytes and flops, is rounded once to whole
// picoseconds, the same on every machine, and is at most kMaxCost.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_COST_H
#define FFC_PLAN_COST_H

#include "ffc/Plan/Program.h"
#include "ffc/Plan/Topology.h"
#include "ffc/Plan/Units.h"

#include <memory>

namespace ffc::plan {

/// About 13 days: what lasts longer is cut to this, so that sums of a few costs
/// stay within int64.
constexpr Picoseconds kMaxCost = Picoseconds(1) << 60;

/// All members may be called from several threads at once. Copies share what
/// was computed about rings.
class CostModel {
public:
  /// Shares what `topology` holds; it need not outlive this.
  explicit CostModel(const Topology &topology);

  /// Launch overhead plus the larger of flops / peak and bytes / bandwidth.
  Picoseconds kernel(DeviceId device, double flops, int64_t bytes,
                     ElementType type) const;
  /// A local copy (or combination) that moves `bytes` once in and once out:
  /// launch overhead plus 2 bytes / memory bandwidth.
  Picoseconds copy(DeviceId device, int64_t bytes) const;
  /// Sum of the route's latencies plus bytes over its narrowest link. To itself
  /// a device copies.
  Picoseconds transfer(DeviceId src, DeviceId dst, int64_t bytes) const;
  /// `bytes` is the size of the whole tensor (AllReduce and Broadcast: of the
  /// buffer). Ring algorithms on the members in ascending order, which are
  /// distinct; nothing for a single member. With n members, a the largest
  /// latency of a hop, and B the bandwidth of the slowest hop, where hops over
  /// the same link share it:
  ///
  ///   AllReduce                  2 (n - 1) (a + bytes / n / B)
  ///   AllGather, ReduceScatter     (n - 1) (a + bytes / n / B)
  ///   Broadcast, pipelined         (n - 1) a + bytes / B
  Picoseconds collective(CollectiveKind kind,
                         const std::vector<DeviceId> &members,
                         int64_t bytes) const;

private:
  struct Ring {
    Picoseconds latency = 0; ///< the largest of a hop
    double bandwidth = 0;    ///< bytes per second through the slowest hop
  };
  struct RingCache;

  Ring ringOf(const std::vector<DeviceId> &members) const;

  Topology topology;
  std::shared_ptr<RingCache> rings;
};

} // namespace ffc::plan

#endif // FFC_PLAN_COST_H
