//===- Cost.cpp - how long kernels and transfers take ---------------------===//

#include "ffc/Plan/Cost.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <mutex>
#include <unordered_map>

using namespace ffc::plan;

static constexpr double kPicosecondsPerSecond = 1e12;

/// Only multiplications, divisions and one rounding follow each other in what
/// is passed here, no sums that a compiler might fuse; so results are the same
/// everywhere.
static Picoseconds toPicoseconds(double seconds) {
  const double value = seconds * kPicosecondsPerSecond;
  if (!(value < static_cast<double>(kMaxCost)))
    return kMaxCost;
  return std::llround(value);
}

static Picoseconds sum(Picoseconds a, Picoseconds b) {
  return std::min(a + b, kMaxCost);
}

/// `count` times `each`, cut at kMaxCost.
static Picoseconds times(int64_t count, Picoseconds each) {
  if (each != 0 && count > kMaxCost / each)
    return kMaxCost;
  return count * each;
}

/// Rings already looked at, by members. Searches ask for the same few groups
/// again and again; if there are very many, starting over bounds the memory.
struct CostModel::RingCache {
  static constexpr size_t kMaxMembers = size_t(1) << 22;

  std::mutex mutex;
  std::map<std::vector<DeviceId>, Ring> rings;
  size_t members = 0;
};

CostModel::CostModel(const Topology &topology)
    : topology(topology), rings(std::make_shared<RingCache>()) {}

Picoseconds CostModel::kernel(DeviceId device, double flops, int64_t bytes,
                              ElementType type) const {
  assert(flops >= 0 && bytes >= 0 && "negative work");
  const DeviceKind &kind = topology.kindOf(device);
  const Picoseconds compute = toPicoseconds(flops / kind.flopsPerSecond(type));
  const Picoseconds memory =
      toPicoseconds(static_cast<double>(bytes) / kind.memoryBandwidth);
  return sum(kind.launch, std::max(compute, memory));
}

Picoseconds CostModel::copy(DeviceId device, int64_t bytes) const {
  assert(bytes >= 0 && "negative work");
  const DeviceKind &kind = topology.kindOf(device);
  return sum(kind.launch, toPicoseconds(2 * static_cast<double>(bytes) /
                                        kind.memoryBandwidth));
}

Picoseconds CostModel::transfer(DeviceId src, DeviceId dst,
                                int64_t bytes) const {
  assert(bytes >= 0 && "negative work");
  if (src == dst)
    return copy(src, bytes);
  const RouteCost route = topology.routeCost(src, dst);
  return sum(route.latency,
             toPicoseconds(static_cast<double>(bytes) / route.bandwidth));
}

CostModel::Ring CostModel::ringOf(const std::vector<DeviceId> &members) const {
  {
    std::lock_guard<std::mutex> lock(rings->mutex);
    auto found = rings->rings.find(members);
    if (found != rings->rings.end())
      return found->second;
  }
  Ring ring;
  std::unordered_map<LinkId, int> hopsOverLink;
  for (size_t i = 0; i < members.size(); ++i) {
    const Route route =
        topology.route(members[i], members[(i + 1) % members.size()]);
    ring.latency = std::max(ring.latency, route.latency);
    for (LinkId link : route.links)
      ++hopsOverLink[link];
  }
  // All hops are busy at once, so a link that several of them use is shared.
  ring.bandwidth = HUGE_VAL;
  for (auto [link, hops] : hopsOverLink)
    ring.bandwidth =
        std::min(ring.bandwidth, topology.links()[link].bandwidth / hops);
  std::lock_guard<std::mutex> lock(rings->mutex);
  if (rings->members > RingCache::kMaxMembers) {
    rings->rings.clear();
    rings->members = 0;
  }
  if (rings->rings.emplace(members, ring).second)
    rings->members += members.size();
  return ring;
}

Picoseconds CostModel::collective(CollectiveKind kind,
                                  const std::vector<DeviceId> &members,
                                  int64_t bytes) const {
  assert(bytes >= 0 && "negative work");
  const auto n = static_cast<int64_t>(members.size());
  if (n <= 1)
    return 0;
  const Ring ring = ringOf(members);
  int64_t steps = n - 1;
  // Bytes through each hop, as a multiple of `bytes`.
  double share = static_cast<double>(n - 1) / static_cast<double>(n);
  switch (kind) {
  case CollectiveKind::AllReduce:
    steps *= 2;
    share *= 2;
    break;
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
    break;
  case CollectiveKind::Broadcast:
    share = 1;
    break;
  }
  return sum(
      times(steps, ring.latency),
      toPicoseconds(static_cast<double>(bytes) * share / ring.bandwidth));
}
