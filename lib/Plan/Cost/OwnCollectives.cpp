//===- OwnCollectives.cpp - collectives by schedules ----------------------===//

#include "OwnCollectives.h"

#include "Collectives/GroupSchedules.h"
#include "CostInternals.h"

#include <cassert>
#include <map>

using namespace ffc::plan;

using Own = CostModel::Paths::Own;

static Picoseconds durationOf(const Own &own, int64_t bytes) {
  return sum(own.timed->time.latency,
             toPicoseconds(static_cast<double>(bytes) * own.secondsPerByte));
}

CostModel::CollectiveCost
ffc::plan::bySchedule(CollectiveKind kind, const CollectiveSchedule &schedule,
                      const CostModel::Paths &paths, int64_t bytes) {
  CostModel::CollectiveCost best;
  best.time = kMaxCost;
  for (const Own &own : paths.own[static_cast<size_t>(kind)])
    if (own.timed->schedule.get() == &schedule ||
        *own.timed->schedule == schedule)
      if (const Picoseconds time = durationOf(own, bytes); time < best.time) {
        best.time = time;
        best.schedule = own.timed;
      }
  assert(best.schedule && "not a schedule of the group");
  return best;
}

void ffc::plan::improveByOwn(CostModel::Choice &best, CollectiveKind kind,
                             const CostModel::Paths &paths, int64_t bytes) {
  for (const Own &own : paths.own[static_cast<size_t>(kind)])
    if (const Picoseconds time = durationOf(own, bytes); time < best.time)
      best = {CollectiveAlgorithm::Schedule, time, own.timed->schedule};
}

//===----------------------------------------------------------------------===//
// Which groups have schedules
//===----------------------------------------------------------------------===//

bool CostModel::mayOwn(const std::vector<DeviceId> &members) const {
  // Ranks that share memory read from each other; no messages are faster.
  if (collectives.own == OwnCollectives::Never || members.size() < 2 ||
      topology.shareMemory(members))
    return false;
  if (collectives.own == OwnCollectives::Always || isDirect)
    return true;
  return std::all_of(members.begin(), members.end(), [&](DeviceId member) {
    return topology.kindOf(member).target == Target::CPU;
  });
}

std::shared_ptr<const GroupSchedules>
CostModel::schedulesFor(const std::vector<DeviceId> &members) const {
  {
    std::lock_guard<std::mutex> lock(known->mutex);
    if (auto found = known->schedules.find(members);
        found != known->schedules.end())
      return found->second;
  }
  auto made = std::make_shared<const GroupSchedules>(
      schedulesOf(topology, members, collectives.algorithm));
  std::lock_guard<std::mutex> lock(known->mutex);
  return known->schedules.emplace(members, std::move(made)).first->second;
}

namespace {

/// What all groups send over each link by schedules that are alike: of one
/// algorithm with equally many chunks.
class SharedLoads {
public:
  void add(const TimedSchedule &timed) {
    for (auto [link, load] : timed.loads)
      loads[keyOf(timed)][link] += load;
  }
  double of(const TimedSchedule &timed, LinkId link) const {
    return loads.at(keyOf(timed)).at(link);
  }

private:
  using Key = std::pair<std::string, int>;
  static Key keyOf(const TimedSchedule &timed) {
    return {timed.schedule->algorithm, timed.schedule->chunks};
  }
  std::map<Key, std::map<LinkId, double>> loads;
};

} // namespace

void CostModel::findOwn(const std::vector<std::vector<DeviceId>> &groups,
                        std::vector<Paths> &found) const {
  for (size_t g = 0; g < groups.size(); ++g)
    if (mayOwn(groups[g])) {
      found[g].schedules = schedulesFor(groups[g]);
      found[g].mustOwn = collectives.own == OwnCollectives::Always;
    }
  for (int kind = 0; kind < kNumCollectiveKinds; ++kind) {
    const auto of = [&](const Paths &paths) -> const auto & {
      return paths.schedules->of(static_cast<CollectiveKind>(kind));
    };
    SharedLoads all;
    for (const Paths &paths : found)
      if (paths.schedules && groups.size() > 1)
        for (const TimedSchedule &timed : of(paths))
          all.add(timed);
    for (Paths &paths : found)
      if (paths.schedules)
        for (const TimedSchedule &timed : of(paths)) {
          double seconds = timed.time.secondsPerByte;
          if (groups.size() > 1)
            for (auto [link, load] : timed.loads)
              seconds = std::max(seconds, all.of(timed, link) /
                                              topology.links()[link].bandwidth);
          paths.own[static_cast<size_t>(kind)].push_back({&timed, seconds});
        }
  }
}
