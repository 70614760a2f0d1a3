//===- NcclTimes.cpp - how long NCCL's collectives take -------------------===//
//
// Constants are those of src/graph/tuning.cc of NCCL 2.28, where times are in
// microseconds and rates in GB/s; hosts are Intel's. Four are not NCCL's, but
// follow measurements on nodes of eight H100, as a public model states them
// (AutoParallel, autoparallel/cost_models/nccl_cost_model.py): kLeastStart,
// kOfRings, kSwitchShare and kSwitchFill.
//
//===----------------------------------------------------------------------===//

#include "NcclTimes.h"

#include "CostInternals.h"

#include <array>
#include <cassert>

using namespace ffc::plan;

using Cost = CostModel::CollectiveCost;

namespace {

enum Protocol { LL, LL128, Simple };
constexpr Protocol kProtocols[] = {LL, LL128, Simple};
using ByProtocol = std::array<double, 3>;
/// One node, two, or more.
using BySpread = std::array<double, 3>;

/// Microseconds: of a start, of a step within a node (NVLink), of one between
/// nodes.
struct Latencies {
  ByProtocol start, within, across;
};
constexpr Latencies kTree = {{6.8, 14, 8.4}, {0.6, 1.25, 4}, {5, 8.5, 14}};
constexpr Latencies kRing = {
    {kNcclStart * 1e-6, 14, 8.4}, {0.6, 1.9, 3.4}, {2.7, 4, 14}};
/// What a step of a ring across nodes costs its members within them at least.
constexpr ByProtocol kNetworkPost = {1, 1, 3};
constexpr double kSwitchLatency = 25, kSwitchTreeAcross = 14;
/// All-gathers and reduce-scatters of one member per node by parallel trees
/// (PAT): of a start, of a step of the trees, of each member.
constexpr double kPatStart = 8, kPatStep = 4, kPatMember = 2.8;

/// Rates of a generation; those of channels are of one. GB/s.
struct Limits {
  BySpread channelRingLL128, channelTreeLL128, channelTree;
  double leastLatency; ///< LL in one node
  double switches; ///< share of the links that sums in switches reach; 0: none
};
/// By GpuGeneration.
constexpr std::array<Limits, kNumGpuGenerations> kLimits = {{
    {},
    {{20, 20, 20}, {20, 20, 20}, {26.5, 18.5, 10}, 39, 0},
    {{20, 20, 20}, {20, 20, 20}, {24, 23.6, 17.8}, 87.7, 0},
    {{36.7, 36.7, 36.7}, {36.7, 36.7, 29}, {38.7, 41.4, 36}, 141, 0.85},
    {{40, 40, 40}, {55.6, 31.67, 20}, {70, 42.8, 24}, 282, 0.74},
}};
/// LL across nodes, limited by the hosts.
constexpr BySpread kLLAcross = {0, 39, 20.4};
/// Channels within a node, and across nodes.
constexpr double kChannels = 24, kChannelsAcross = 8;

/// Trees reach less of their bandwidth in the middle: shares by powers of two
/// of the bytes, from 64 on.
constexpr int64_t kFirstShare = 64;
constexpr std::array<std::array<double, 23>, 3> kTreeShares = {{
    {1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
     .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1},
    {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
     .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
}};

/// Within a node nothing takes less than this: 8 us for two members and 3.6 us
/// more for each other one.
constexpr double kLeastStart = 8, kLeastStartMore = 3.6;
/// Of what a ring across nodes could send, in all-gathers and reduce-scatters
/// from LL128 on.
constexpr double kOfRings = 0.8, kOfRingsAllReduce = 0.95;
/// Sums in switches: bytes per second over those of the links that limit them,
/// and bytes of each member until trees across nodes are full.
constexpr double kSwitchShare = 5.0 / 6, kSwitchFill = 390'000;

Picoseconds microseconds(double value) { return toPicoseconds(value * 1e-6); }

int64_t log2Floor(int64_t n) {
  int64_t log = 0;
  while (n >>= 1)
    ++log;
  return log;
}

/// A collective of a group.
class Collective {
public:
  Collective(CollectiveKind kind, const CostModel::Paths &paths, int64_t bytes)
      : kind(kind), bytes(bytes), paths(paths),
        limits(kLimits[static_cast<size_t>(paths.generation)]),
        members(paths.ring.members), nodes(paths.nodes),
        perNode(static_cast<double>(members) / static_cast<double>(nodes)),
        spread(static_cast<size_t>(std::min<int64_t>(nodes, 3) - 1)) {
    if (nodes == 1) {
      within = bandwidth = paths.ring.bandwidth;
    } else if (paths.outer.members > 1) {
      within = paths.inner.members > 1 ? paths.inner.bandwidth : HUGE_VAL;
      across = paths.outer.bandwidth * perNode;
      bandwidth = std::min(within, across);
    } else { // nodes with unequally many members
      within = across = bandwidth = paths.ring.bandwidth;
    }
  }

  Cost best() const {
    Cost best = ring(LL);
    auto improve = [&](const Cost &other) {
      if (other.time < best.time)
        best = other;
    };
    for (Protocol protocol : kProtocols) {
      improve(ring(protocol));
      if (kind == CollectiveKind::AllReduce)
        improve(tree(protocol));
    }
    if (kind == CollectiveKind::AllReduce && mayAddInSwitches())
      improve(inSwitches());
    if (isOfParts() && nodes == members && nodes > 1)
      improve(pat());
    return best;
  }

private:
  bool isOfParts() const {
    return kind == CollectiveKind::AllGather ||
           kind == CollectiveKind::ReduceScatter;
  }

  /// `perMember` times the bytes leave each member, and reach it, on the way
  /// that `latency` and `seconds` describe.
  Cost cost(Picoseconds latency, Picoseconds sending, double perMember) const {
    Cost cost;
    cost.time = sum(std::max(latency, leastStart()), sending);
    if (paths.outer.members > 1) {
      cost.inner = paths.inner.members > 1 ? perMember : 0;
      cost.outer = perMember / perNode;
    } else {
      cost.ring = perMember;
    }
    return cost;
  }

  Picoseconds leastStart() const {
    return nodes > 1 ? 0
                     : sum(microseconds(kLeastStart),
                           times(members - 2, microseconds(kLeastStartMore)));
  }

  /// Between nodes a step takes what the network does where that is more.
  Picoseconds acrossStep(double step) const {
    return std::max(microseconds(step), paths.outer.members > 1
                                            ? paths.outer.latency
                                            : paths.ring.latency);
  }

  Picoseconds send(double rate) const {
    return toPicoseconds(static_cast<double>(bytes) / rate);
  }

  double channels() const { return nodes > 1 ? kChannelsAcross : kChannels; }
  double leastLatencyRate() const {
    return (nodes > 1 ? kLLAcross[spread] : limits.leastLatency) * 1e9;
  }

  Cost ring(Protocol protocol) const {
    const bool isAllReduce = kind == CollectiveKind::AllReduce;
    const int64_t rounds = isAllReduce ? 2 : 1;
    const int64_t steps =
        kind == CollectiveKind::Broadcast ? members : rounds * (members - 1);
    const int64_t acrossSteps = rounds * (nodes - 1);
    double rate = bandwidth;
    if (protocol == LL)
      rate = std::min(rate * 0.5, leastLatencyRate());
    if (protocol == LL128)
      rate = std::min(rate * 0.92,
                      channels() * limits.channelRingLL128[spread] * 1e9);
    if (nodes > 1 && protocol != LL)
      rate *= isOfParts() ? kOfRings : kOfRingsAllReduce;
    const double post = nodes > 1 ? kNetworkPost[protocol] : 0;
    // Where every member is in another node, nothing hides the network.
    const double step =
        nodes == members ? kTree.across[protocol] : kRing.across[protocol];
    Picoseconds latency =
        sum(microseconds(kRing.start[protocol]),
            sum(times(steps - acrossSteps,
                      microseconds(std::max(kRing.within[protocol], post))),
                times(acrossSteps, acrossStep(step))));
    // All-reduces of more than a few bytes for each channel.
    if (isAllReduce && protocol == Simple && nodes > 1 &&
        bytes / members >= 64 * static_cast<int64_t>(kChannelsAcross))
      latency = sum(latency, times(2, latency / 5));
    const double perMember =
        static_cast<double>(steps) / static_cast<double>(members);
    return cost(latency, send(rate / perMember), perMember);
  }

  Cost tree(Protocol protocol) const {
    double rate = std::min(bandwidth * 0.92,
                           channels() * limits.channelTree[spread] * 1e9);
    if (protocol == LL)
      rate = std::min(rate / 3.8, leastLatencyRate());
    if (protocol == LL128)
      rate = std::min(rate * (nodes > 1 ? 120.0 / 128 : 7.0 / 9),
                      channels() * limits.channelTreeLL128[spread] * 1e9);
    // Within a node it is a chain.
    rate *= nodes > 1 ? 0.5 * 0.85 : 0.5;
    const auto inNode = static_cast<int64_t>(perNode) - 1;
    const Picoseconds latency =
        sum(microseconds(kTree.start[protocol]),
            times(2, sum(times(inNode, microseconds(kTree.within[protocol])),
                         times(log2Floor(nodes),
                               acrossStep(kTree.across[protocol])))));
    return cost(latency, sendByTree(protocol, rate), 2);
  }

  /// Between two powers of two the time grows evenly, so that more bytes never
  /// take less.
  Picoseconds sendByTree(Protocol protocol, double rate) const {
    auto at = [&](int64_t power) {
      const int64_t share = power - log2Floor(kFirstShare);
      const auto &shares = kTreeShares[protocol];
      return toPicoseconds(std::ldexp(1.0, static_cast<int>(power)) / rate /
                           (share < 0 ? shares.front()
                            : share < static_cast<int64_t>(shares.size())
                                ? shares[share]
                                : 1));
    };
    if (bytes < 1)
      return 0;
    const int64_t power = log2Floor(bytes), below = int64_t(1) << power;
    const Picoseconds low = at(power), high = at(power + 1);
    return sum(low, toPicoseconds(static_cast<double>(high - low) *
                                  static_cast<double>(bytes - below) /
                                  static_cast<double>(below) * 1e-12));
  }

  bool mayAddInSwitches() const {
    return paths.switchesAdd && limits.switches > 0 && perNode >= 4;
  }

  Cost inSwitches() const {
    double rate = limits.switches * within;
    if (nodes > 1)
      rate = std::min(rate, nodes == 2 ? across : across / 2);
    rate *= kSwitchShare;
    Picoseconds latency = microseconds(kSwitchLatency);
    if (nodes == 1)
      latency = sum(latency, microseconds(kRing.start[LL]));
    else
      latency =
          sum(sum(latency,
                  times(2 * log2Floor(nodes), acrossStep(kSwitchTreeAcross))),
              toPicoseconds(static_cast<double>(members) * kSwitchFill / rate));
    return cost(latency, send(rate), 1);
  }

  Cost pat() const {
    const Picoseconds latency =
        sum(microseconds(kPatStart),
            sum(times(log2Floor(nodes), acrossStep(kPatStep)),
                times(members, microseconds(kPatMember))));
    return cost(latency, send(bandwidth * 0.75), 1);
  }

  const CollectiveKind kind;
  const int64_t bytes;
  const CostModel::Paths &paths;
  const Limits &limits;
  const int64_t members, nodes;
  const double perNode;
  const size_t spread;
  /// Bytes per second of a ring within the nodes, of what leaves a node, and of
  /// both.
  double within = 0, across = 0, bandwidth = 0;
};

} // namespace

Cost ffc::plan::byNccl(CollectiveKind kind, const CostModel::Paths &paths,
                       int64_t bytes) {
  assert(paths.generation != GpuGeneration::None && paths.ring.members > 1 &&
         "not a group of NCCL's");
  return Collective(kind, paths, bytes).best();
}
