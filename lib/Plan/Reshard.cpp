//===- Reshard.cpp - from the layout a value has to the one needed --------===//

#include "ffc/Plan/Reshard.h"

#include <algorithm>
#include <map>

using namespace ffc::plan;

std::vector<Box> ffc::plan::subtract(const Box &box, const Box &hole) {
  Box common = box.intersect(hole);
  if (box.rank() == 0)
    return {};
  if (common.empty())
    return {box};
  std::vector<Box> rest;
  Box middle = box;
  for (int d = 0; d < box.rank(); ++d) {
    for (Interval side : {Interval{middle[d].lo, common[d].lo},
                          Interval{common[d].hi, middle[d].hi}}) {
      if (side.empty())
        continue;
      Box part = middle;
      part[d] = side;
      rest.push_back(part);
    }
    middle[d] = common[d];
  }
  return rest;
}

/// Takes `hole` out of all boxes of `rest`, and calls visit(common) for every
/// part of it that was there.
template <class Visitor>
static void subtractFromAll(std::vector<Box> &rest, const Box &hole,
                            Visitor visit) {
  for (size_t i = 0; i < rest.size();) {
    Box common = rest[i].intersect(hole);
    if (common.empty()) {
      ++i;
      continue;
    }
    visit(common);
    std::vector<Box> parts = subtract(rest[i], common);
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(i), parts.begin(),
                parts.end());
    i += parts.size();
  }
}

namespace {

/// Plans one candidate path. The holdings are its own copy because collectives
/// add to them.
class Candidate {
public:
  Candidate(std::vector<Holding> holdings,
            const std::vector<PartialGroup> &groups,
            const std::vector<Need> &targets, const TensorType &type,
            const CostModel &cost)
      : holdings(std::move(holdings)), groups(groups), targets(targets),
        type(type), cost(cost), open(targets.size(), true) {}

  /// Every needed partial group becomes whole on its members.
  void allReduce() {
    for (size_t g = 0; g < groups.size(); ++g) {
      if (!groupNeeded(g))
        continue;
      CollectiveStep step;
      step.kind = CollectiveKind::AllReduce;
      step.partial = static_cast<int>(g);
      for (const auto &member : groups[g].members) {
        step.members.push_back(member.device);
        holdings.push_back({member.device, Region(groups[g].box),
                            groups[g].order, member.buffer});
      }
      addCollective(std::move(step), bytesOf(groups[g].box.volume()));
    }
    // Members that need exactly the reduced box have it now.
    for (size_t t = 0; t < targets.size(); ++t)
      for (const Holding &holding : holdings)
        if (holding.device == targets[t].device &&
            holding.region == targets[t].region &&
            holding.order == targets[t].order)
          open[t] = false;
  }

  /// Groups whose members need equal, disjoint blocks of the group's box.
  bool reduceScatter() {
    for (size_t g = 0; g < groups.size(); ++g) {
      if (!groupNeeded(g))
        continue;
      CollectiveStep step;
      step.kind = CollectiveKind::ReduceScatter;
      step.partial = static_cast<int>(g);
      for (const auto &member : groups[g].members) {
        int found = -1;
        for (size_t t = 0; t < targets.size(); ++t)
          if (open[t] && targets[t].device == member.device &&
              targets[t].region.isBox() &&
              groups[g].box.contains(targets[t].region.box())) {
            if (found >= 0)
              return false;
            found = static_cast<int>(t);
          }
        if (found < 0)
          return false;
        step.members.push_back(member.device);
        step.targets.push_back(found);
      }
      if (!consecutiveBlocks(groups[g].box, targetBoxes(step.targets)) ||
          !sameOrder(groups[g].order, step.targets))
        return false;
      for (int t : step.targets)
        open[t] = false;
      addCollective(std::move(step), bytesOf(groups[g].box.volume()));
    }
    return std::none_of(open.begin(), open.end(), [](bool o) { return o; });
  }

  /// Sets of devices that need the same box, of which each holds one block.
  bool allGather() {
    bool any = false;
    for (const auto &[region, wanting] : targetsByRegion()) {
      if (wanting.size() < 2 || !region.isBox())
        continue;
      CollectiveStep step;
      step.kind = CollectiveKind::AllGather;
      std::vector<Box> blocks;
      for (int t : wanting) {
        int found = -1;
        for (size_t h = 0; h < holdings.size() && found < 0; ++h)
          if (holdings[h].device == targets[t].device &&
              holdings[h].region.isBox() && !holdings[h].region.empty() &&
              holdings[h].order == targets[t].order &&
              region.box().contains(holdings[h].region.box()))
            found = static_cast<int>(h);
        if (found < 0)
          break;
        step.members.push_back(targets[t].device);
        step.targets.push_back(t);
        step.holdings.push_back(found);
        blocks.push_back(holdings[found].region.box());
      }
      if (step.members.size() != wanting.size() ||
          !consecutiveBlocks(region.box(), blocks) ||
          !sameOrder(holdings[step.holdings[0]].order, step.targets))
        continue;
      for (int t : wanting)
        open[t] = false;
      addCollective(std::move(step), bytesOf(region.volume()));
      any = true;
    }
    return any;
  }

  /// Sets of devices that need the same box, which one device holds.
  bool broadcast() {
    bool any = false;
    for (const auto &[region, wanting] : targetsByRegion()) {
      if (wanting.size() < 2 || !region.isBox())
        continue;
      for (size_t h = 0; h < holdings.size(); ++h) {
        if (holdings[h].region != region ||
            !sameOrder(holdings[h].order, wanting))
          continue;
        CollectiveStep step;
        step.kind = CollectiveKind::Broadcast;
        step.holdings = {static_cast<int>(h)};
        std::map<DeviceId, int> member;
        for (int t : wanting)
          member[targets[t].device] = t;
        member.emplace(holdings[h].device, -1);
        for (auto [device, target] : member) {
          if (device == holdings[h].device)
            step.root = static_cast<int>(step.members.size());
          step.members.push_back(device);
          step.targets.push_back(target);
        }
        for (int t : wanting)
          open[t] = false;
        addCollective(std::move(step), bytesOf(region.volume()));
        any = true;
        break;
      }
    }
    return any;
  }

  /// Everything still open, box by box. Partial groups are added up at the
  /// target in member order, so that all copies have equal bits.
  void pointToPoint() {
    std::map<DeviceId, Picoseconds> busy;
    for (size_t t = 0; t < targets.size(); ++t)
      if (open[t])
        targets[t].region.forEachBox(
            [&](const Box &box) { cover(static_cast<int>(t), box, busy); });
    for (auto [device, time] : busy)
      transferTime = std::max(transferTime, time);
  }

  ReshardPlan finish() {
    Picoseconds collective = 0;
    for (auto [device, time] : collectiveTime)
      collective = std::max(collective, time);
    plan.cost = collective + transferTime;
    return std::move(plan);
  }

private:
  int64_t bytesOf(int64_t elements) const {
    return elements * byteSize(type.type);
  }

  bool groupNeeded(size_t g) const {
    bool needed = false;
    for (size_t t = 0; t < targets.size() && !needed; ++t)
      if (open[t])
        targets[t].region.forEachBox([&](const Box &box) {
          needed |= !box.intersect(groups[g].box).empty();
        });
    return needed;
  }

  std::vector<Box> targetBoxes(const std::vector<int> &indices) const {
    std::vector<Box> boxes;
    for (int t : indices)
      boxes.push_back(targets[t].region.box());
    return boxes;
  }

  /// True if `blocks` cut `whole` into equal parts along the first dimension,
  /// in this order. The first dimension is the outermost in every memory order,
  /// so the blocks then lie one after the other in a buffer of `whole`.
  static bool consecutiveBlocks(const Box &whole,
                                const std::vector<Box> &blocks) {
    if (whole.rank() == 0 || blocks.size() < 2)
      return false;
    int64_t size = blocks[0][0].size();
    int64_t at = whole[0].lo;
    for (Box block : blocks) {
      if (block[0] != Interval{at, at + size})
        return false;
      at += size;
      block[0] = whole[0];
      if (block != whole)
        return false;
    }
    return at == whole[0].hi;
  }

  bool sameOrder(MemoryOrder order, const std::vector<int> &indices) const {
    return std::all_of(indices.begin(), indices.end(),
                       [&](int t) { return targets[t].order == order; });
  }

  /// Open targets by region, each region's in order of device, with at most one
  /// per device.
  std::map<Region, std::vector<int>> targetsByRegion() const {
    std::map<Region, std::map<DeviceId, int>> byRegion;
    for (size_t t = 0; t < targets.size(); ++t)
      if (open[t])
        byRegion[targets[t].region].emplace(targets[t].device,
                                            static_cast<int>(t));
    std::map<Region, std::vector<int>> result;
    for (const auto &[region, byDevice] : byRegion)
      for (auto [device, t] : byDevice)
        result[region].push_back(t);
    return result;
  }

  void addCollective(CollectiveStep step, int64_t bytes) {
    Picoseconds time = cost.collective(step.kind, step.members, bytes);
    for (DeviceId device : step.members)
      collectiveTime[device] += time;
    plan.collectives.push_back(std::move(step));
  }

  void cover(int t, const Box &box, std::map<DeviceId, Picoseconds> &busy) {
    std::vector<Box> rest = {box};
    for (int h : sourcesFor(targets[t].device, box)) {
      holdings[h].region.forEachBox([&](const Box &have) {
        subtractFromAll(rest, have, [&](const Box &common) {
          add(t, common, holdings[h].device, busy).holding = h;
        });
      });
      if (rest.empty())
        return;
    }
    for (const Box &part : rest)
      coverFromPartial(t, part, busy);
  }

  void coverFromPartial(int t, const Box &box,
                        std::map<DeviceId, Picoseconds> &busy) {
    for (size_t g = 0; g < groups.size(); ++g) {
      Box common = box.intersect(groups[g].box);
      if (common.empty())
        continue;
      for (size_t m = 0; m < groups[g].members.size(); ++m) {
        TransferStep &step = add(t, common, groups[g].members[m].device, busy);
        step.partial = static_cast<int>(g);
        step.member = static_cast<int>(m);
        step.combine = m == 0 ? Reduction::None : groups[g].reduction;
      }
    }
  }

  /// Holdings of a part of `box` in the order in which `device` should read
  /// them: its own, then others by cost, ties dealt out so that copies share
  /// the load.
  std::vector<int> sourcesFor(DeviceId device, const Box &box) const {
    std::vector<std::pair<std::pair<Picoseconds, int64_t>, int>> keyed;
    int64_t count = static_cast<int64_t>(holdings.size());
    for (int64_t h = 0; h < count; ++h) {
      bool common = false;
      holdings[h].region.forEachBox(
          [&](const Box &have) { common |= !have.intersect(box).empty(); });
      if (!common)
        continue;
      Picoseconds time = holdings[h].device == device
                             ? 0
                             : cost.transfer(holdings[h].device, device, 1);
      keyed.push_back(
          {{time, (h - device % count + count) % count}, static_cast<int>(h)});
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<int> order;
    for (const auto &entry : keyed)
      order.push_back(entry.second);
    return order;
  }

  TransferStep &add(int t, const Box &box, DeviceId source,
                    std::map<DeviceId, Picoseconds> &busy) {
    DeviceId device = targets[t].device;
    int64_t bytes = bytesOf(box.volume());
    if (source == device) {
      busy[device] += cost.copy(device, bytes);
    } else {
      Picoseconds time = cost.transfer(source, device, bytes);
      busy[source] += time;
      busy[device] += time;
    }
    TransferStep step;
    step.target = t;
    step.box = box;
    plan.transfers.push_back(step);
    return plan.transfers.back();
  }

  std::vector<Holding> holdings;
  const std::vector<PartialGroup> &groups;
  const std::vector<Need> &targets;
  const TensorType &type;
  const CostModel &cost;
  std::vector<bool> open;
  std::map<DeviceId, Picoseconds> collectiveTime;
  Picoseconds transferTime = 0;
  ReshardPlan plan;
};

} // namespace

/// True if the holdings alone cover all targets.
static bool covered(const std::vector<Holding> &holdings,
                    const std::vector<Need> &targets) {
  std::vector<Box> rest;
  for (const Need &target : targets) {
    rest.clear();
    target.region.forEachBox([&](const Box &box) { rest.push_back(box); });
    for (const Holding &holding : holdings) {
      holding.region.forEachBox([&](const Box &have) {
        subtractFromAll(rest, have, [](const Box &) {});
      });
      if (rest.empty())
        break;
    }
    if (!rest.empty())
      return false;
  }
  return true;
}

/// True if a part of some group's box has been completed already. Reducing it a
/// second time in another order would give copies that differ in their last
/// bits, so collectives are then left out.
static bool touches(const std::vector<Holding> &holdings,
                    const std::vector<PartialGroup> &groups) {
  bool any = false;
  for (const PartialGroup &group : groups)
    for (const Holding &holding : holdings)
      holding.region.forEachBox(
          [&](const Box &box) { any |= !box.intersect(group.box).empty(); });
  return any;
}

ReshardPlan ffc::plan::planReshard(const std::vector<Holding> &holdings,
                                   const std::vector<PartialGroup> &groups,
                                   const std::vector<Need> &targets,
                                   const TensorType &type,
                                   const CostModel &cost) {
  std::vector<ReshardPlan> candidates;
  auto start = [&] { return Candidate(holdings, groups, targets, type, cost); };
  if (covered(holdings, targets)) {
    Candidate gather = start();
    if (gather.allGather()) {
      gather.pointToPoint();
      candidates.push_back(gather.finish());
    }
    Candidate broadcast = start();
    if (broadcast.broadcast()) {
      broadcast.pointToPoint();
      candidates.push_back(broadcast.finish());
    }
  } else if (!touches(holdings, groups)) {
    Candidate scatter = start();
    if (scatter.reduceScatter())
      candidates.push_back(scatter.finish());
    Candidate reduce = start();
    reduce.allReduce();
    reduce.pointToPoint();
    candidates.push_back(reduce.finish());
  }
  Candidate direct = start();
  direct.pointToPoint();
  candidates.push_back(direct.finish());

  return *std::min_element(candidates.begin(), candidates.end(),
                           [](const ReshardPlan &a, const ReshardPlan &b) {
                             return a.cost < b.cost;
                           });
}
