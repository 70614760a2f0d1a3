//===- ReshardCandidate.cpp - one way to fill targets ---------------------===//

#include "ReshardCandidate.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace ffc::plan;

ReshardProblem::ReshardProblem(const Holdings &holdings,
                               const std::vector<PartialGroup> &groups,
                               const std::vector<Need> &targets,
                               const TensorType &type, const CostModel &cost)
    : holdings(holdings), groups(groups), targets(targets), type(type),
      cost(cost) {
  blocks.reserve(holdings.size());
  for (size_t h = 0; h < holdings.size(); ++h)
    blocks.add(holdings[h].region, static_cast<int>(h));
  for (size_t g = 0; g < groups.size(); ++g)
    groupBlocks.add(groups[g].box, static_cast<int>(g));
  for (const Need &target : targets)
    targetsOn.add(target.device);
}

std::vector<std::vector<int>> ReshardProblem::targetsByRegion() const {
  std::vector<int> sorted(targets.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) {
    if (targets[a].region != targets[b].region)
      return targets[a].region < targets[b].region;
    return targets[a].device < targets[b].device;
  });
  std::vector<std::vector<int>> lists;
  for (int t : sorted) {
    if (lists.empty() ||
        targets[lists.back().back()].region != targets[t].region)
      lists.push_back({t});
    else if (targets[lists.back().back()].device != targets[t].device)
      lists.back().push_back(t);
  }
  return lists;
}

ReshardCandidate::ReshardCandidate(const ReshardProblem &problem)
    : problem(problem), targets(problem.targets),
      open(problem.targets.size(), true) {}

int64_t ReshardCandidate::bytesOf(const Region &region,
                                  MemoryOrder order) const {
  return bufferBytes(region, order, problem.type.type);
}

ReshardPlan ReshardCandidate::finish() {
  using DeviceTime = std::pair<DeviceId, Picoseconds>;
  // Adds up what each device does and takes the largest.
  auto longest = [](const std::vector<DeviceTime> &times) {
    std::vector<Picoseconds> sums;
    Picoseconds most = 0;
    for (auto [device, time] : times) {
      if (static_cast<size_t>(device) >= sums.size())
        sums.resize(static_cast<size_t>(device) + 1);
      sums[device] = std::min(sums[device] + time, kMaxCost);
      most = std::max(most, sums[device]);
    }
    return most;
  };
  std::vector<std::vector<DeviceId>> groups;
  for (const CollectiveStep &step : plan.collectives)
    groups.push_back(step.members);
  std::vector<DeviceTime> collecting;
  if (!groups.empty()) {
    auto paths = problem.cost.paths(groups);
    for (size_t c = 0; c < groups.size(); ++c) {
      CollectiveStep &step = plan.collectives[c];
      const CostModel::Choice choice =
          CostModel::choose(step.kind, (*paths)[c], step.bytes);
      step.algorithm = choice.algorithm;
      step.schedule = choice.schedule;
      for (DeviceId member : groups[c])
        collecting.push_back({member, choice.time});
    }
  }
  plan.exchange = problem.cost.exchange(messages);
  std::vector<DeviceTime> moving = plan.exchange;
  moving.insert(moving.end(), copies.begin(), copies.end());
  plan.cost = std::min(longest(collecting) + longest(moving), kMaxCost);
  return std::move(plan);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// True if `blocks` cut `whole` into equal parts along the first dimension, in
/// this order. The first dimension is the outermost in every memory order, so
/// the blocks then lie one after the other in a buffer of `whole`.
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

/// Those of which an open target needs a part.
std::vector<char> ReshardCandidate::neededGroups() const {
  std::vector<char> needed(problem.groups.size());
  for (size_t t = 0; t < targets.size(); ++t)
    if (open[t])
      targets[t].region.forEachBox([&](const Box &box) {
        for (int g : problem.groupBlocks.meeting(box))
          needed[g] = true;
      });
  return needed;
}

CollectiveStep ReshardCandidate::reductionOf(CollectiveKind kind,
                                             size_t group) const {
  CollectiveStep step;
  step.kind = kind;
  step.partial = static_cast<int>(group);
  for (const auto &member : problem.groups[group].members)
    step.members.push_back(member.device);
  return step;
}

void ReshardCandidate::allReduce() {
  const std::vector<char> needed = neededGroups();
  for (size_t g = 0; g < problem.groups.size(); ++g) {
    if (!needed[g])
      continue;
    const PartialGroup &group = problem.groups[g];
    CollectiveStep step = reductionOf(CollectiveKind::AllReduce, g);
    Region region(group.box);
    for (const auto &member : group.members) {
      int h = static_cast<int>(problem.holdings.size() + reduced.size());
      reducedBlocks.add(group.box, h);
      reduced.push_back({member.device, region, group.order, member.buffer});
      // Members that need exactly the reduced box have it now.
      for (int t = problem.targetsOn.first(member.device); t >= 0;
           t = problem.targetsOn.next(t))
        if (targets[t].region == region && targets[t].order == group.order)
          open[t] = false;
    }
    add(std::move(step), region, group.order);
  }
}

bool ReshardCandidate::reduceScatter() {
  const std::vector<char> needed = neededGroups();
  for (size_t g = 0; g < problem.groups.size(); ++g) {
    if (!needed[g])
      continue;
    const PartialGroup &group = problem.groups[g];
    CollectiveStep step = reductionOf(CollectiveKind::ReduceScatter, g);
    for (const auto &member : group.members) {
      int found = -1;
      for (int t = problem.targetsOn.first(member.device); t >= 0;
           t = problem.targetsOn.next(t))
        if (open[t] && targets[t].region.isBox() &&
            group.box.contains(targets[t].region.box())) {
          if (found >= 0)
            return false;
          found = t;
        }
      if (found < 0)
        return false;
      step.targets.push_back(found);
    }
    if (!consecutiveBlocks(group.box, targetBoxes(step.targets)) ||
        !sameOrder(group.order, step.targets))
      return false;
    for (int t : step.targets)
      open[t] = false;
    add(std::move(step), Region(group.box), group.order);
  }
  return std::none_of(open.begin(), open.end(), [](char o) { return o; });
}

/// A holding of a block of `region` on the target's device; -1 if none.
int ReshardCandidate::blockOn(const Need &target, const Region &region) const {
  const DeviceIndex &byDevice = problem.holdings.byDevice();
  int found = byDevice.first(target.device);
  for (; found >= 0; found = byDevice.next(found)) {
    const Holding &have = problem.holdings[found];
    if (have.region.isBox() && have.order == target.order &&
        region.box().contains(have.region.box()))
      break;
  }
  return found;
}

/// If there are copies of the blocks, those who have the n-th copy of each are
/// a group.
bool ReshardCandidate::allGather(
    const std::vector<std::vector<int>> &byRegion) {
  for (const std::vector<int> &wanting : byRegion) {
    const Region &region = targets[wanting[0]].region;
    if (wanting.size() < 2 || !region.isBox())
      continue;
    struct Member {
      int target, holding;
    };
    std::map<Box, std::vector<Member>> byBlock;
    size_t copies = 0;
    for (int t : wanting) {
      int found = blockOn(targets[t], region);
      if (found < 0) {
        copies = 0;
        break;
      }
      auto &members = byBlock[problem.holdings[found].region.box()];
      members.push_back({t, found});
      copies = std::max(copies, members.size());
    }
    if (copies * byBlock.size() != wanting.size() || byBlock.size() < 2)
      continue;
    std::vector<CollectiveStep> steps(copies);
    bool fits = true;
    for (size_t c = 0; fits && c < copies; ++c) {
      CollectiveStep &step = steps[c];
      step.kind = CollectiveKind::AllGather;
      std::vector<Box> blocks;
      for (const auto &[block, members] : byBlock) {
        const Member &member = members[c];
        step.members.push_back(targets[member.target].device);
        step.targets.push_back(member.target);
        step.holdings.push_back(member.holding);
        blocks.push_back(block);
      }
      fits = std::is_sorted(step.members.begin(), step.members.end()) &&
             consecutiveBlocks(region.box(), blocks) &&
             sameOrder(problem.holdings[step.holdings[0]].order, step.targets);
    }
    if (!fits)
      continue;
    for (int t : wanting)
      open[t] = false;
    for (CollectiveStep &step : steps)
      add(std::move(step), region, targets[wanting[0]].order);
  }
  return !plan.collectives.empty();
}

bool ReshardCandidate::broadcast(
    const std::vector<std::vector<int>> &byRegion) {
  for (const std::vector<int> &wanting : byRegion) {
    const Need &first = targets[wanting[0]];
    if (wanting.size() < 2 || !first.region.isBox() ||
        !sameOrder(first.order, wanting))
      continue;
    // The first holding of the region and order is the root.
    const std::vector<int> &meeting =
        problem.blocks.meeting(first.region.box());
    auto at = std::find_if(meeting.begin(), meeting.end(), [&](int h) {
      const Holding &have = problem.holdings[h];
      return have.region == first.region && have.order == first.order;
    });
    if (at == meeting.end())
      continue;
    const DeviceId root = problem.holdings[*at].device;
    CollectiveStep step;
    step.kind = CollectiveKind::Broadcast;
    step.holdings = {*at};
    for (int t : wanting) {
      step.members.push_back(targets[t].device);
      step.targets.push_back(t);
      open[t] = false;
    }
    auto place =
        std::lower_bound(step.members.begin(), step.members.end(), root);
    step.root = static_cast<int>(place - step.members.begin());
    if (place == step.members.end() || *place != root) {
      step.members.insert(place, root);
      step.targets.insert(step.targets.begin() + step.root, -1);
    }
    add(std::move(step), first.region, first.order);
  }
  return !plan.collectives.empty();
}

std::vector<Box>
ReshardCandidate::targetBoxes(const std::vector<int> &indices) const {
  std::vector<Box> boxes;
  for (int t : indices)
    boxes.push_back(targets[t].region.box());
  return boxes;
}

bool ReshardCandidate::sameOrder(MemoryOrder order,
                                 const std::vector<int> &indices) const {
  return std::all_of(indices.begin(), indices.end(),
                     [&](int t) { return targets[t].order == order; });
}

void ReshardCandidate::add(CollectiveStep step, const Region &whole,
                           MemoryOrder order) {
  step.bytes = bytesOf(whole, order);
  plan.collectives.push_back(std::move(step));
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

bool ReshardCandidate::pointToPoint(Picoseconds limit) {
  messageLimit = limit;
  // Mostly a target takes a few boxes; growing moves many bytes.
  plan.transfers.reserve(4 * targets.size());
  messages.reserve(4 * targets.size());
  copies.reserve(4 * targets.size());
  for (size_t t = 0; t < targets.size() && !isOverLimit; ++t)
    if (open[t]) {
      parts.clear();
      targets[t].region.forEachBox(
          [&](const Box &box) { cover(static_cast<int>(t), box); });
      addTransfers(static_cast<int>(t));
    }
  return !isOverLimit;
}

/// From the device's own holdings, then from others by cost, ties dealt out so
/// that copies share the load. What else there is of the value does not matter.
void ReshardCandidate::cover(int t, const Box &box) {
  const DeviceId device = targets[t].device;
  own.clear();
  others.clear();
  auto addSource = [&](int h) {
    (holding(h).device == device ? own : others).push_back({0, h, h});
  };
  for (int h : problem.blocks.meeting(box))
    addSource(h);
  for (int h : reducedBlocks.meeting(box))
    addSource(h);

  rest = {box};
  std::sort(own.begin(), own.end());
  for (const Source &source : own)
    coverFromHolding(rest, source.holding);
  if (rest.empty())
    return;
  if (const auto count = static_cast<int64_t>(others.size()); count > 1) {
    std::sort(others.begin(), others.end());
    for (int64_t i = 0; i < count; ++i) {
      Source &source = others[i];
      source.turn = (i - device % count + count) % count;
      source.time =
          problem.cost.transfer(holding(source.holding).device, device, 1);
    }
  }
  // The best one mostly does.
  for (auto at = others.begin(); at != others.end() && !rest.empty(); ++at) {
    if (at == others.begin())
      std::iter_swap(at, std::min_element(at, others.end()));
    else if (at == others.begin() + 1)
      std::sort(at, others.end());
    coverFromHolding(rest, at->holding);
  }
  for (const Box &part : rest)
    coverFromPartial(part);
}

void ReshardCandidate::coverFromHolding(std::vector<Box> &rest, int h) {
  takeOut(rest, holding(h).region, [&](const Box &common) {
    parts.push_back({h, -1, 0, common, Reduction::None});
  });
}

void ReshardCandidate::coverFromPartial(const Box &box) {
  for (int g : problem.groupBlocks.meeting(box)) {
    const PartialGroup &group = problem.groups[g];
    for (size_t m = 0; m < group.members.size(); ++m)
      parts.push_back({-1, g, static_cast<int>(m), box.intersect(group.box),
                       m == 0 ? Reduction::None : group.reduction});
  }
}

/// Parts of one source follow each other afterwards, which leaves the members
/// of a group in order.
void ReshardCandidate::addTransfers(int t) {
  if (parts.size() > 1)
    std::stable_sort(parts.begin(), parts.end());
  for (size_t i = 0, end; i < parts.size(); i = end) {
    int64_t volume = 0;
    for (end = i; end < parts.size() && parts[i].isWithin(parts[end]); ++end)
      volume += parts[end].box.volume();
    if (end > i + 1) {
      Region common = sourceRegion(parts[i]).intersect(targets[t].region);
      if (common.volume() == volume) {
        addTransfer(t, parts[i], std::move(common));
        continue;
      }
    }
    for (size_t p = i; p < end; ++p)
      addTransfer(t, parts[p], Region(parts[p].box));
  }
}

/// True if the messages that `dst` receives now take as long as the limit.
bool ReshardCandidate::addReceived(DeviceId src, DeviceId dst, int64_t bytes) {
  if (static_cast<size_t>(dst) >= receiving.size())
    receiving.resize(static_cast<size_t>(dst) + 1);
  receiving[dst] = std::min(
      receiving[dst] + problem.cost.transfer(src, dst, bytes), kMaxCost);
  return receiving[dst] >= messageLimit;
}

void ReshardCandidate::addTransfer(int t, const Part &part, Region region) {
  const Need &target = targets[t];
  const bool isHeld = part.holding >= 0;
  const PartialGroup *group = isHeld ? nullptr : &problem.groups[part.partial];
  const DeviceId device = isHeld ? holding(part.holding).device
                                 : group->members[part.member].device;
  auto copyOn = [&](DeviceId device) {
    region.forEachBox([&](const Box &box) {
      copies.push_back(
          {device, problem.cost.copy(
                       device, bytesOf(Region(box), MemoryOrder::RowMajor))});
    });
  };
  TransferStep step;
  if (device == target.device) {
    copyOn(device);
  } else {
    const int64_t bytes = bytesOf(region, target.order);
    messages.push_back({device, target.device, bytes});
    if (messageLimit < INT64_MAX)
      isOverLimit |= addReceived(device, target.device, bytes);
    const MemoryOrder order =
        isHeld ? holding(part.holding).order : group->order;
    step.packed = order != target.order || region != sourceRegion(part);
    step.unpacked = part.combine != Reduction::None || region != target.region;
    if (step.packed)
      copyOn(device);
    if (step.unpacked)
      copyOn(target.device);
  }
  step.holding = part.holding;
  step.partial = part.partial;
  step.member = part.member;
  step.target = t;
  step.combine = part.combine;
  step.region = std::move(region);
  plan.transfers.push_back(std::move(step));
}
