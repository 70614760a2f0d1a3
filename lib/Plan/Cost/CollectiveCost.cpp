//===- CollectiveCost.cpp - how long collectives take ---------------------===//

#include "Collectives/GroupSchedules.h"
#include "CostInternals.h"
#include "NcclTimes.h"
#include "OwnCollectives.h"

#include "ffc/Plan/Profile.h"

#include <algorithm>
#include <cassert>

using namespace ffc::plan;

namespace {

/// Finds the hops of rings that are all busy at once.
class RingFinder {
public:
  RingFinder(const Topology &topology)
      : topology(topology), hopsOverLink(topology.links().size()) {}

  void add(std::vector<DeviceId> members) {
    eachHop(members, [&](LinkId link) { ++hopsOverLink[link]; });
    rings.push_back(std::move(members));
  }

  /// The ring added as number `index`, once all are added.
  CostModel::Ring ring(size_t index) {
    CostModel::Ring ring;
    ring.members = static_cast<int64_t>(rings[index].size());
    ring.bandwidth = HUGE_VAL;
    ring.latency = eachHop(rings[index], [&](LinkId link) {
      ring.bandwidth =
          std::min(ring.bandwidth,
                   topology.links()[link].bandwidth / hopsOverLink[link]);
    });
    return ring;
  }

  /// Calls visit(link) for the links of all hops. Returns the largest latency.
  template <class Visitor>
  Picoseconds eachHop(const std::vector<DeviceId> &members, Visitor visit) {
    Picoseconds latency = 0;
    for (size_t i = 0; members.size() > 1 && i < members.size(); ++i) {
      DeviceId src = members[i], dst = members[(i + 1) % members.size()];
      latency = std::max(latency, topology.routeCost(src, dst).latency);
      links.clear();
      topology.appendLinks(src, dst, links);
      for (LinkId link : links)
        visit(link);
    }
    return latency;
  }

private:
  const Topology &topology;
  std::vector<int> hopsOverLink;
  std::vector<std::vector<DeviceId>> rings;
  std::vector<LinkId> links;
};

/// The members of each node that has any.
std::vector<std::vector<DeviceId>>
membersByNode(const Topology &topology, const std::vector<DeviceId> &members) {
  std::map<int, std::vector<DeviceId>> byNode;
  for (DeviceId member : members)
    byNode[topology.device(member).node].push_back(member);
  std::vector<std::vector<DeviceId>> nodes;
  for (auto &[node, list] : byNode)
    nodes.push_back(std::move(list));
  return nodes;
}

/// Are there several nodes, and equally many members in each?
bool haveTwoLevels(const std::vector<std::vector<DeviceId>> &nodes) {
  return nodes.size() > 1 &&
         std::all_of(nodes.begin(), nodes.end(), [&](const auto &node) {
           return node.size() == nodes[0].size();
         });
}

/// The oldest generation of the members.
GpuGeneration generationOf(const Topology &topology,
                           const std::vector<DeviceId> &members) {
  GpuGeneration oldest = topology.kindOf(members.front()).generation;
  for (DeviceId member : members)
    oldest = std::min(oldest, topology.kindOf(member).generation);
  return oldest;
}

/// The ring of the members at position `m` of every node.
std::vector<DeviceId>
memberAcross(const std::vector<std::vector<DeviceId>> &nodes, size_t m) {
  std::vector<DeviceId> across;
  for (const auto &node : nodes)
    across.push_back(node[m]);
  return across;
}

} // namespace

std::vector<CostModel::Paths>
CostModel::findPaths(const std::vector<std::vector<DeviceId>> &groups) const {
  // One level and two levels are alternatives: links are shared with those of
  // the same kind.
  RingFinder whole(topology), inner(topology), outer(topology);
  std::vector<size_t> firstInner, firstOuter;
  std::vector<int64_t> nodesOf;
  size_t inners = 0, outers = 0;
  for (const std::vector<DeviceId> &group : groups) {
    whole.add(group);
    auto nodes = membersByNode(topology, group);
    nodesOf.push_back(static_cast<int64_t>(nodes.size()));
    if (!haveTwoLevels(nodes))
      nodes.clear();
    firstInner.push_back(inners);
    firstOuter.push_back(outers);
    for (const auto &node : nodes)
      inner.add(node);
    inners += nodes.size();
    for (size_t m = 0; !nodes.empty() && m < nodes[0].size(); ++m, ++outers)
      outer.add(memberAcross(nodes, m));
  }
  firstInner.push_back(inners);
  firstOuter.push_back(outers);
  /// The slowest of some rings of equal size.
  auto slowest = [](RingFinder &rings, size_t begin, size_t end) {
    Ring all;
    for (size_t i = begin; i < end; ++i) {
      Ring one = rings.ring(i);
      if (i == begin)
        all = one;
      all.latency = std::max(all.latency, one.latency);
      all.bandwidth = std::min(all.bandwidth, one.bandwidth);
    }
    return all;
  };
  std::vector<Paths> found(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    found[g].ring = whole.ring(g);
    found[g].inner = slowest(inner, firstInner[g], firstInner[g + 1]);
    found[g].outer = slowest(outer, firstOuter[g], firstOuter[g + 1]);
    found[g].nodes = nodesOf[g];
    found[g].generation = generationOf(topology, groups[g]);
    found[g].switchesAdd = collectives.switchesAdd;
    found[g].shareMemory = topology.shareMemory(groups[g]);
    if (isMeasured(groups[g]))
      found[g].measured = measured.get();
  }
  findOwn(groups, found);
  return found;
}

std::shared_ptr<const std::vector<CostModel::Paths>>
CostModel::paths(const std::vector<std::vector<DeviceId>> &groups) const {
  {
    std::lock_guard<std::mutex> lock(known->mutex);
    auto found = known->paths.find(groups);
    if (found != known->paths.end())
      return found->second;
  }
  auto added = std::make_shared<const std::vector<Paths>>(findPaths(groups));
  std::lock_guard<std::mutex> lock(known->mutex);
  if (known->members > PathCache::kMaxMembers) {
    known->paths.clear();
    known->schedules.clear();
    known->members = 0;
  }
  if (known->paths.emplace(groups, added).second)
    for (const auto &group : groups)
      known->members += group.size();
  return added;
}

/// `share` times bytes over the bandwidth of the ring, after `steps` latencies.
static Picoseconds over(const CostModel::Ring &ring, int64_t steps,
                        double share, int64_t bytes) {
  return sum(
      times(steps, ring.latency),
      toPicoseconds(static_cast<double>(bytes) * share / ring.bandwidth));
}

static int64_t log2Ceil(int64_t n) {
  int64_t log = 0;
  while ((int64_t(1) << log) < n)
    ++log;
  return log;
}

using Cost = CostModel::CollectiveCost;

static Cost cheaper(const Cost &a, const Cost &b) {
  return b.time < a.time ? b : a;
}

/// `perHop` times the bytes go over each hop, after `steps` latencies.
static Cost onRing(const CostModel::Ring &ring, int64_t steps, double perHop,
                   int64_t bytes) {
  return {over(ring, steps, perHop, bytes), perHop, 0, 0};
}

/// The share that each of n members has from others.
static double fromOthers(const CostModel::Ring &ring) {
  return static_cast<double>(ring.members - 1) /
         static_cast<double>(ring.members);
}

//===----------------------------------------------------------------------===//
// As libraries do it
//===----------------------------------------------------------------------===//

/// `rounds` times round a ring to which each member contributes its part.
static Cost aroundRing(const CostModel::Ring &ring, int rounds, int64_t bytes) {
  return onRing(ring, rounds * (ring.members - 1), rounds * fromOthers(ring),
                bytes);
}

/// An all-reduce goes round a ring twice or through a tree.
static Cost allReduce(const CostModel::Ring &ring, int64_t bytes) {
  return cheaper(aroundRing(ring, 2, bytes),
                 onRing(ring, 2 * log2Ceil(ring.members), 2, bytes));
}

/// All-gathers and reduce-scatters across nodes go round a ring or through
/// trees of which every member is the root of one.
static Cost acrossNodes(const CostModel::Ring &ring, int64_t bytes) {
  return cheaper(aroundRing(ring, 1, bytes),
                 onRing(ring, log2Ceil(ring.members), fromOthers(ring), bytes));
}

/// A broadcast goes along the ring, or through a tree.
static Cost broadcast(const CostModel::Ring &ring, int64_t bytes) {
  const int64_t depth = log2Ceil(ring.members);
  return cheaper(onRing(ring, ring.members - 1, 1, bytes),
                 onRing(ring, depth, static_cast<double>(depth), bytes));
}

/// A ring in each node, and one across the nodes for each of its members.
static Cost inTwoLevels(CollectiveKind kind, const CostModel::Paths &paths,
                        int64_t bytes) {
  const bool isAllReduce = kind == CollectiveKind::AllReduce;
  const int64_t m = paths.inner.members;
  const int64_t share = bytes / m + (bytes % m != 0);
  const Cost inner = aroundRing(paths.inner, isAllReduce ? 2 : 1, bytes);
  const Cost outer = isAllReduce ? allReduce(paths.outer, share)
                                 : acrossNodes(paths.outer, share);
  return {sum(inner.time, outer.time), 0, inner.ring,
          outer.ring / static_cast<double>(m)};
}

static Cost byLibrary(CollectiveKind kind, const CostModel::Paths &paths,
                      int64_t bytes) {
  if (paths.generation != GpuGeneration::None)
    return byNccl(kind, paths, bytes);
  if (kind == CollectiveKind::Broadcast)
    return broadcast(paths.ring, bytes);
  const Cost whole = kind == CollectiveKind::AllReduce
                         ? allReduce(paths.ring, bytes)
                         : aroundRing(paths.ring, 1, bytes);
  return paths.outer.members > 1
             ? cheaper(whole, inTwoLevels(kind, paths, bytes))
             : whole;
}

//===----------------------------------------------------------------------===//
// In shared memory
//===----------------------------------------------------------------------===//

/// Of the whole tensor, what a member reads from others in one shot.
static double readInOneShot(CollectiveKind kind, const CostModel::Ring &ring) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return static_cast<double>(ring.members - 1);
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
    return fromOthers(ring);
  case CollectiveKind::Broadcast:
    return 1;
  }
  assert(false && "unknown collective");
  return 0;
}

/// The algorithms of a collective, the preferred one of equally fast ones
/// first.
static std::vector<CollectiveAlgorithm>
algorithmsOf(CollectiveKind kind, const CostModel::Paths &paths,
             int64_t bytes) {
  if (paths.mustOwn && !paths.own[static_cast<size_t>(kind)].empty())
    return {};
  if (!paths.shareMemory)
    return {CollectiveAlgorithm::Library};
  if (kind != CollectiveKind::AllReduce)
    return {CollectiveAlgorithm::OneShot};
  if (bytes > kOneShotBytes / paths.ring.members)
    return {CollectiveAlgorithm::TwoShot};
  return {CollectiveAlgorithm::OneShot, CollectiveAlgorithm::TwoShot};
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

Cost CostModel::costOf(CollectiveKind kind, CollectiveAlgorithm algorithm,
                       const CollectiveSchedule *schedule, const Paths &paths,
                       int64_t bytes) {
  assert(bytes >= 0 && "negative work");
  if (paths.ring.members <= 1)
    return {};
  if (paths.measured)
    if (const Curve *curve =
            paths.measured->collective(kind, paths.ring.members))
      return {curve->at(bytes), 0, 0, 0};
  switch (algorithm) {
  case CollectiveAlgorithm::Library:
    return byLibrary(kind, paths, bytes);
  case CollectiveAlgorithm::OneShot:
    return onRing(paths.ring, 1, readInOneShot(kind, paths.ring), bytes);
  case CollectiveAlgorithm::TwoShot:
    return onRing(paths.ring, 2, 2 * fromOthers(paths.ring), bytes);
  case CollectiveAlgorithm::Schedule:
    return bySchedule(kind, *schedule, paths, bytes);
  }
  assert(false && "unknown algorithm");
  return {};
}

CostModel::Choice CostModel::choose(CollectiveKind kind, const Paths &paths,
                                    int64_t bytes) {
  Choice best;
  best.time = INT64_MAX;
  for (CollectiveAlgorithm algorithm : algorithmsOf(kind, paths, bytes)) {
    const Picoseconds time =
        costOf(kind, algorithm, nullptr, paths, bytes).time;
    if (time < best.time)
      best = {algorithm, time, nullptr};
  }
  const bool wasMeasured =
      paths.measured && paths.measured->collective(kind, paths.ring.members);
  if (!wasMeasured)
    improveByOwn(best, kind, paths, bytes);
  return best;
}

std::vector<std::pair<LinkId, double>>
CostModel::linksOf(const CollectiveCost &collective,
                   const std::vector<DeviceId> &members) const {
  std::map<LinkId, double> loads;
  auto add = [&](const std::vector<DeviceId> &ring, double share) {
    RingFinder(topology).eachHop(ring,
                                 [&](LinkId link) { loads[link] += share; });
  };
  if (collective.schedule)
    return collective.schedule->loads;
  if (collective.ring > 0)
    add(members, collective.ring);
  if (collective.outer > 0) {
    const auto nodes = membersByNode(topology, members);
    assert(haveTwoLevels(nodes));
    for (const std::vector<DeviceId> &node : nodes)
      add(node, collective.inner);
    for (size_t m = 0; m < nodes[0].size(); ++m)
      add(memberAcross(nodes, m), collective.outer);
  }
  return {loads.begin(), loads.end()};
}
