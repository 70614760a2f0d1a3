//===- GroupSchedules.cpp - what algorithms a group can choose from -------===//

#include "GroupSchedules.h"

#include "Algorithms.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ffc::plan;

const std::vector<std::string> &ffc::plan::scheduleAlgorithms() {
  static const std::vector<std::string> names = {"rings",  "direct", "doubling",
                                                 "levels", "greedy", "trees"};
  return names;
}

const std::vector<TimedSchedule> &
GroupSchedules::of(CollectiveKind kind) const {
  static const std::vector<TimedSchedule> none;
  switch (kind) {
  case CollectiveKind::AllReduce:
    return allReduce;
  case CollectiveKind::AllGather:
    return allGather;
  case CollectiveKind::ReduceScatter:
    return reduceScatter;
  case CollectiveKind::Broadcast:
    return none;
  }
  return none;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Rings through the nodes one after the other: as many as a node has members,
/// so that each enters and leaves every node at another member, and where that
/// loads other links the same rings the other way round.
static std::vector<RingOrder> ringsThroughNodes(const MemberGraph &graph) {
  std::vector<std::vector<int>> byNode;
  for (int member = 0; member < graph.size(); ++member) {
    const auto node = static_cast<size_t>(graph.nodes()[member]);
    byNode.resize(std::max(byNode.size(), node + 1));
    byNode[node].push_back(member);
  }
  size_t fewest = byNode.front().size();
  for (const std::vector<int> &node : byNode)
    fewest = std::min(fewest, node.size());
  if (byNode.size() == 1)
    fewest = 1;
  std::vector<RingOrder> rings;
  for (size_t turn = 0; turn < fewest; ++turn) {
    RingOrder &ring = rings.emplace_back();
    for (const std::vector<int> &node : byNode)
      for (size_t i = 0; i < node.size(); ++i)
        ring.push_back(node[(i + turn) % node.size()]);
  }
  return rings;
}

static std::vector<RingOrder> bothWays(std::vector<RingOrder> rings) {
  for (size_t i = rings.size(); i-- > 0;)
    rings.emplace_back(rings[i].rbegin(), rings[i].rend());
  return rings;
}

static std::vector<CollectiveSchedule> simpleOnes(const MemberGraph &graph) {
  const std::vector<RingOrder> rings = ringsThroughNodes(graph);
  return {ringsAllGather(rings), ringsAllGather(bothWays(rings)),
          directAllGather(graph.size()), doublingAllGather(graph.size()),
          levelsAllGather(graph)};
}

/// Seconds per byte of the whole tensor that no all-gather undercuts: what a
/// member receives from the others, or sends to somebody, over all its links.
static double leastSecondsPerByte(const MemberGraph &routes,
                                  const MemberGraph &direct) {
  const int n = routes.size();
  double least = 0;
  for (int member = 0; member < n; ++member) {
    std::set<int> out, in;
    for (const MemberGraph *graph : {&routes, &direct})
      for (int other = 0; other < n; ++other)
        if (other != member) {
          out.insert(graph->way(member, other).links.front());
          in.insert(graph->way(other, member).links.back());
        }
    double outgoing = 0, incoming = 0;
    for (int link : out)
      outgoing += routes.bandwidths()[link];
    for (int link : in)
      incoming += routes.bandwidths()[link];
    least = std::max({least, (n - 1.0) / n / incoming, 1.0 / n / outgoing});
  }
  return least;
}

/// Without edges that are so many times as slow for a chunk as a way around
/// them, and with all.
static std::vector<std::vector<bool>> closedEdges(const MemberGraph &graph,
                                                  double bytes) {
  constexpr double kTooSlow[] = {2, 1};
  std::vector<std::vector<bool>> all = {
      std::vector<bool>(graph.edges().size())};
  for (double factor : kTooSlow)
    if (std::vector<bool> isSlow = slowEdges(graph, bytes, factor);
        isSlow != all.back())
      all.push_back(std::move(isSlow));
  return all;
}

/// How often chunks are matched: where a schedule is short, chance decides
/// more, and others cost little.
static uint32_t triesFor(int64_t transfers) {
  constexpr int64_t kShort = 1000, kMostTries = 16;
  return static_cast<uint32_t>(
      std::clamp<int64_t>(kShort / transfers, 1, kMostTries));
}

/// Those that follow the links of the graph.
static std::vector<CollectiveSchedule> fittedOnes(const MemberGraph &graph) {
  // Chunks of every member. More of them fill links better and take longer to
  // start.
  constexpr int kChunks[] = {1, 2, 4, 8}, kPieces[] = {1, 2, 4, 8, 16, 32, 64};
  // Where latencies matter, and where they do not.
  constexpr double kChunkBytes[] = {1 << 11, 1 << 14, 1 << 20};
  constexpr int64_t kMostTransfers = 40000;
  const int64_t n = graph.size();
  std::vector<CollectiveSchedule> schedules;
  std::map<double, std::vector<std::vector<bool>>> closed;
  if (n * (n - 1) <= kMostTransfers)
    for (double bytes : kChunkBytes)
      closed[bytes] = closedEdges(graph, bytes);
  for (int chunks : kChunks)
    if (const int64_t transfers = n * (n - 1) * chunks;
        transfers <= kMostTransfers)
      for (double bytes : kChunkBytes)
        for (const std::vector<bool> &isClosed : closed[bytes])
          for (uint32_t seed = 1; seed <= triesFor(transfers); ++seed)
            schedules.push_back(
                greedyAllGather(graph, chunks, bytes, isClosed, seed));
  const TreePacking packing = packTrees(graph, graph.ownBandwidths());
  for (int pieces : kPieces)
    if (!packing.trees.empty() &&
        n * (n - 1) * packing.treesOfEach * pieces <= kMostTransfers)
      schedules.push_back(treesAllGather(graph, packing, pieces));
  return schedules;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Keeps those that are the fastest for some number of bytes.
static void keepFastest(std::vector<TimedSchedule> &schedules) {
  std::stable_sort(schedules.begin(), schedules.end(), [](auto &a, auto &b) {
    return std::pair(a.time.latency, a.time.secondsPerByte) <
           std::pair(b.time.latency, b.time.secondsPerByte);
  });
  std::vector<TimedSchedule> kept;
  for (TimedSchedule &each : schedules)
    if (kept.empty() ||
        each.time.secondsPerByte < kept.back().time.secondsPerByte)
      kept.push_back(std::move(each));
  schedules = std::move(kept);
}

namespace {

/// Collects schedules of one group.
class Collector {
public:
  Collector(const Topology &topology, const std::vector<DeviceId> &members,
            const std::string &only)
      : only(only), routes(topology, members), direct(routes.withDirectWays()),
        isSymmetric(direct.isSymmetric()) {}

  GroupSchedules collect() {
    addAll(routes, simpleOnes);
    const double least = leastSecondsPerByte(routes, direct);
    constexpr double kCloseEnough = 1.02;
    const bool isClose = std::any_of(
        found.allReduce.begin(), found.allReduce.end(), [&](auto &each) {
          return each.time.secondsPerByte <= 2 * least * kCloseEnough;
        });
    // Through a switch everybody is everybody's neighbour.
    const auto pairs = static_cast<size_t>(routes.size() * (routes.size() - 1));
    if (!only.empty() || !isClose || routes.edges().size() < pairs)
      addAll(direct, fittedOnes);
    keepFastest(found.allReduce);
    keepFastest(found.allGather);
    keepFastest(found.reduceScatter);
    return std::move(found);
  }

private:
  using Maker = std::vector<CollectiveSchedule> (*)(const MemberGraph &);

  void addAll(const MemberGraph &graph, Maker make) {
    std::vector<CollectiveSchedule> forward = make(graph);
    std::vector<CollectiveSchedule> backward =
        isSymmetric ? forward : make(graph.transposed());
    for (size_t i = 0; i < forward.size(); ++i) {
      if (forward[i].transfers.empty() || backward[i].transfers.empty() ||
          forward[i].chunks != backward[i].chunks ||
          (!only.empty() && forward[i].algorithm != only))
        continue;
      CollectiveSchedule scatter = reversed(backward[i]);
      add(found.allReduce, allReduceBy(scatter, forward[i]));
      add(found.reduceScatter, std::move(scatter));
      add(found.allGather, std::move(forward[i]));
    }
  }

  void add(std::vector<TimedSchedule> &to, CollectiveSchedule made) {
    const auto schedule =
        std::make_shared<const CollectiveSchedule>(std::move(made));
    to.push_back(timed(schedule, routes));
    if (std::all_of(schedule->transfers.begin(), schedule->transfers.end(),
                    [&](const ChunkTransfer &t) {
                      return routes.areNeighbours(t.src, t.dst);
                    }))
      to.push_back(timed(schedule, direct));
  }

  static TimedSchedule timed(std::shared_ptr<const CollectiveSchedule> schedule,
                             const MemberGraph &graph) {
    TimedSchedule result;
    result.time = timeOf(*schedule, graph);
    const std::vector<double> loads = loadsOf(*schedule, graph);
    for (size_t link = 0; link < loads.size(); ++link)
      if (loads[link] > 0)
        result.loads.push_back(
            {graph.linkOf(static_cast<int>(link)), loads[link]});
    std::sort(result.loads.begin(), result.loads.end());
    result.schedule = std::move(schedule);
    return result;
  }

  const std::string &only;
  const MemberGraph routes, direct;
  const bool isSymmetric;
  GroupSchedules found;
};

} // namespace

GroupSchedules ffc::plan::schedulesOf(const Topology &topology,
                                      const std::vector<DeviceId> &members,
                                      const std::string &only) {
  if (members.size() < 2 || members.size() > kMaxScheduleMembers)
    return {};
  return Collector(topology, members, only).collect();
}
