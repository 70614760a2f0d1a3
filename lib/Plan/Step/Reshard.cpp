//===- Reshard.cpp - from the layout a value has to the one needed --------===//

#include "ffc/Plan/Reshard.h"

#include "ReshardCandidate.h"

#include <algorithm>

using namespace ffc::plan;

/// Items for which an index has memory from the first one on: most have no
/// more.
static constexpr size_t kFew = 16;

void DeviceIndex::add(DeviceId device) {
  if (nexts.empty()) {
    nexts.reserve(kFew);
    ends.reserve(kFew);
  }
  const int item = static_cast<int>(nexts.size());
  nexts.push_back(-1);
  if (static_cast<size_t>(device) >= ends.size())
    ends.resize(static_cast<size_t>(device) + 1);
  Ends &at = ends[device];
  if (at.first < 0) {
    at.first = item;
    ++used;
  } else {
    nexts[at.last] = item;
  }
  at.last = item;
}

int Holdings::find(const Need &need) const {
  for (int h = index.first(need.device); h >= 0; h = index.next(h))
    if (list[h].region == need.region && list[h].order == need.order)
      return h;
  return -1;
}

/// True if the holdings alone cover all targets.
static bool covered(const ReshardProblem &problem) {
  std::vector<Box> rest;
  for (const Need &target : problem.targets) {
    rest.clear();
    target.region.forEachBox([&](const Box &box) { rest.push_back(box); });
    // What the device has itself mostly does.
    const DeviceIndex &byDevice = problem.holdings.byDevice();
    for (int h = byDevice.first(target.device); h >= 0 && !rest.empty();
         h = byDevice.next(h))
      takeOut(rest, problem.holdings[h].region, [](const Box &) {});
    target.region.forEachBox([&](const Box &box) {
      if (!rest.empty())
        for (int h : problem.blocks.meeting(box))
          takeOut(rest, problem.holdings[h].region, [](const Box &) {});
    });
    if (!rest.empty())
      return false;
  }
  return true;
}

/// True if a part of some group's box has been completed already. Reducing it a
/// second time in another order would give copies that differ in their last
/// bits, so collectives are then left out.
static bool touches(const ReshardProblem &problem) {
  return std::any_of(problem.groups.begin(), problem.groups.end(),
                     [&](const PartialGroup &group) {
                       return !problem.blocks.meeting(group.box).empty();
                     });
}

ReshardPlan ffc::plan::planReshard(const Holdings &holdings,
                                   const std::vector<PartialGroup> &groups,
                                   const std::vector<Need> &targets,
                                   const TensorType &type,
                                   const CostModel &cost) {
  const ReshardProblem problem(holdings, groups, targets, type, cost);
  std::vector<ReshardPlan> candidates;
  if (groups.empty() || covered(problem)) {
    const std::vector<std::vector<int>> byRegion = problem.targetsByRegion();
    ReshardCandidate gather(problem);
    if (gather.allGather(byRegion)) {
      gather.pointToPoint();
      candidates.push_back(gather.finish());
    }
    ReshardCandidate broadcast(problem);
    if (broadcast.broadcast(byRegion)) {
      broadcast.pointToPoint();
      candidates.push_back(broadcast.finish());
    }
  } else if (!touches(problem)) {
    ReshardCandidate scatter(problem);
    if (scatter.reduceScatter())
      candidates.push_back(scatter.finish());
    ReshardCandidate reduce(problem);
    reduce.allReduce();
    reduce.pointToPoint();
    candidates.push_back(reduce.finish());
  }
  auto cheaper = [](const ReshardPlan &a, const ReshardPlan &b) {
    return a.cost < b.cost;
  };
  auto best = [&] {
    return std::min_element(candidates.begin(), candidates.end(), cheaper);
  };
  // Where collectives do all of it, messages that do the same take at least as
  // long, but for the smallest sizes; and there may be very many of them.
  if (std::none_of(
          candidates.begin(), candidates.end(),
          [](const ReshardPlan &plan) { return plan.transfers.empty(); })) {
    ReshardCandidate direct(problem);
    if (direct.pointToPoint(candidates.empty() ? INT64_MAX : best()->cost))
      candidates.push_back(direct.finish());
  }
  return std::move(*best());
}

ReshardPlan ffc::plan::planMessages(const Holdings &holdings,
                                    const std::vector<PartialGroup> &groups,
                                    const std::vector<Need> &targets,
                                    const TensorType &type,
                                    const CostModel &cost) {
  ReshardPlan best = planReshard(holdings, groups, targets, type, cost);
  if (best.collectives.empty() || !groups.empty())
    return best;
  const ReshardProblem problem(holdings, groups, targets, type, cost);
  ReshardCandidate direct(problem);
  if (!direct.pointToPoint(2 * best.cost))
    return best;
  ReshardPlan sent = direct.finish();
  return sent.cost <= 2 * best.cost ? std::move(sent) : std::move(best);
}
