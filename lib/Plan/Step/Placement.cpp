//===- Placement.cpp - where a value is, and how it gets elsewhere --------===//

#include "Placement.h"

#include "ReshardWriter.h"

#include <algorithm>

using namespace ffc::plan;

bool Placement::holdsAll(const std::vector<Need> &needed) const {
  return std::all_of(needed.begin(), needed.end(), [&](const Need &need) {
    return need.region.empty() || find(need) >= 0;
  });
}

bool Placement::isComplete(const Shape &shape) const {
  std::vector<Box> rest = {Box::whole(shape)};
  for (const Holding &holding : holdings) {
    if (!holding.region.isBox())
      continue;
    std::vector<Box> next;
    for (const Box &part : rest)
      for (const Box &outside : subtract(part, holding.region.box()))
        next.push_back(outside);
    rest = std::move(next);
  }
  return rest.empty() && !holdings.empty();
}

std::vector<Need> ffc::plan::distinctNeeds(const std::vector<Need> &needs) {
  std::vector<Need> distinct;
  DeviceIndex index;
  for (const Need &need : needs) {
    int known = index.first(need.device);
    while (known >= 0 && !(distinct[known] == need))
      known = index.next(known);
    if (known >= 0)
      continue;
    index.add(need.device);
    distinct.push_back(need);
  }
  return distinct;
}

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

/// What of `needed` is not there yet. Empty parts become holdings.
static std::vector<Need> missing(TaskSink &sink, Placement &where,
                                 ValueId value, const TensorType &type,
                                 const std::string &name,
                                 const std::vector<Need> &needed) {
  std::vector<Need> targets;
  for (const Need &target : distinctNeeds(needed)) {
    if (where.holdings.find(target) >= 0)
      continue;
    if (!target.region.empty()) {
      targets.push_back(target);
      continue;
    }
    BufferId buffer =
        sink.addBuffer(target.device, value, name, type, target.region,
                       target.order, Section::Arena);
    where.holdings.add({target.device, target.region, target.order, buffer});
  }
  return targets;
}

PlannedReshard ffc::plan::planReshardTo(TaskSink &sink, const CostModel &cost,
                                        Placement &where, ValueId value,
                                        const TensorType &type,
                                        const std::string &name,
                                        const std::vector<Need> &needed,
                                        decltype(planReshard) &plan) {
  PlannedReshard planned;
  planned.targets = missing(sink, where, value, type, name, needed);
  if (!planned.targets.empty())
    planned.plan =
        plan(where.holdings, where.groups, planned.targets, type, cost);
  return planned;
}

int ffc::plan::reshardTo(TaskSink &sink, const CostModel &cost,
                         Placement &where, ValueId value,
                         const TensorType &type, const std::string &name,
                         const std::vector<Need> &needed, ReshardTask first) {
  const PlannedReshard planned =
      planReshardTo(sink, cost, where, value, type, name, needed);
  ReshardWriter(sink, value, type, name, first, planned.targets)
      .write(planned.plan, where.holdings, where.groups);
  return static_cast<int>(planned.plan.collectives.size()) +
         !planned.plan.transfers.empty();
}

//===----------------------------------------------------------------------===//
// Copies and sums
//===----------------------------------------------------------------------===//

void ffc::plan::copyWhole(TaskSink &sink, const std::vector<WholeCopy> &copies,
                          CopyKind kind, TaskId task, const std::string &name) {
  DeviceIndex index;
  for (const WholeCopy &copy : copies)
    index.add(copy.part.device);
  for (const auto &[part, dst, src] : copies)
    part.region.forEachBox(
        [&, to = dst, from = src, on = part.device](const Box &box) {
          sink.copy({on, index.numDevices(), to, from, box, kind.combine,
                     kind.accumulates},
                    task, name);
        });
}

Placement ffc::plan::accumulate(TaskSink &sink, const Placement &where,
                                ValueId value, const TensorType &type,
                                const std::string &name, TaskId task) {
  std::vector<WholeCopy> additions;
  auto meanOf = [&](const Need &part, BufferId buffer) {
    const BufferId mean =
        sink.addBuffer(part.device, value, name, type, part.region, part.order,
                       Section::State);
    additions.push_back({part, mean, buffer});
    return mean;
  };
  Placement means;
  for (const Holding &held : where.holdings)
    means.holdings.add(
        {held.device, held.region, held.order,
         meanOf({held.device, held.region, held.order}, held.buffer)});
  means.groups = where.groups;
  for (PartialGroup &group : means.groups)
    for (PartialGroup::Member &member : group.members)
      member.buffer = meanOf({member.device, Region(group.box), group.order},
                             member.buffer);
  copyWhole(sink, additions, {Reduction::None, /*accumulates=*/true}, task,
            name);
  return means;
}

void ffc::plan::addOwnSum(TaskSink &sink, Placement &sum,
                          const Placement &ofTurn,
                          const std::vector<Need> &needed, TaskId task,
                          const std::string &name) {
  const std::vector<Need> parts = distinctNeeds(needed);
  if (sum.holdings.empty()) {
    for (const Need &part : parts)
      sum.holdings.add(
          {part.device, part.region, part.order, ofTurn.find(part)});
    return;
  }
  std::vector<WholeCopy> additions;
  for (const Need &part : parts)
    additions.push_back({part, sum.find(part), ofTurn.find(part)});
  copyWhole(sink, additions, {Reduction::Sum, /*accumulates=*/false}, task,
            name);
}

std::vector<Need> ffc::plan::lossNeeds(const Placement &where,
                                       const TensorType &type) {
  Need target{0, Region(Box::whole(type.shape)), MemoryOrder::RowMajor};
  std::vector<Need> needs = {target};
  for (const PartialGroup &group : where.groups)
    for (const PartialGroup::Member &member : group.members)
      if ((target.device = member.device) != 0)
        needs.push_back(target);
  return needs;
}

std::vector<Need> ffc::plan::outputNeeds(const Placement &where) {
  std::vector<Need> needs;
  for (const PartialGroup &group : where.groups)
    needs.push_back({group.members[0].device, Region(group.box), group.order});
  return needs;
}

std::vector<Need>
ffc::plan::sumsBeforeSending(const Placement &where,
                             const std::vector<Need> &needed) {
  std::vector<Need> sums;
  for (const PartialGroup &group : where.groups)
    for (const PartialGroup::Member &member : group.members) {
      for (const Need &need : needed)
        if (need.device == member.device)
          return {};
      sums.push_back({member.device, Region(group.box), group.order});
    }
  return sums;
}
