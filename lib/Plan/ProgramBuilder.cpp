//===- ProgramBuilder.cpp - appends actions and buffers -------------------===//

#include "ProgramBuilder.h"

#include <algorithm>

using namespace ffc::plan;

ProgramBuilder::ProgramBuilder(int numDevices) : names(numDevices) {
  program.devices.resize(numDevices);
}

BufferId ProgramBuilder::addBuffer(DeviceId device, ValueId value,
                                   const std::string &name,
                                   const TensorType &type, const Region &region,
                                   MemoryOrder order, Section section) {
  auto &buffers = program.devices[device].buffers;
  Buffer &buffer = buffers.emplace_back();
  if (!name.empty()) {
    // A name with a number may be that of another value as well.
    std::map<std::string, int> &taken = names[device];
    int &count = taken[name];
    do {
      ++count;
      buffer.name = count > 1 ? name + "." + std::to_string(count) : name;
    } while (count > 1 && !taken.emplace(buffer.name, 1).second);
  }
  buffer.value = value;
  buffer.global = type.shape;
  buffer.region = region;
  buffer.type = type.type;
  buffer.order = order;
  buffer.section = section;
  buffer.bytes = region.volume() * byteSize(type.type);
  return static_cast<BufferId>(buffers.size()) - 1;
}

void ProgramBuilder::addAction(DeviceId device, Action action) {
  std::vector<Action> &actions = program.devices[device].actions;
  program.order.push_back({device, static_cast<int>(actions.size())});
  actions.push_back(std::move(action));
}

void ProgramBuilder::addCopy(DeviceId device, BufferId dst, BufferId src,
                             Reduction combine, TaskId task,
                             const std::string &name) {
  Action action;
  action.kind = Action::Kind::Copy;
  action.task = task;
  action.name = name;
  action.dst = dst;
  action.src = src;
  action.size = program.devices[device].buffers[src].region.shape();
  action.dstAt = action.srcAt = Shape(action.size.size(), 0);
  action.combine = combine;
  addAction(device, std::move(action));
}

void ProgramBuilder::addWait(DeviceId device, TaskId task,
                             const std::string &name) {
  Action action;
  action.kind = Action::Kind::Wait;
  action.task = task;
  action.name = name;
  action.event = static_cast<int>(program.devices[device].actions.size()) - 1;
  addAction(device, std::move(action));
}

GroupId ProgramBuilder::group(const std::vector<DeviceId> &members) {
  auto [it, added] =
      groups.emplace(members, static_cast<GroupId>(program.groups.size()));
  if (added)
    program.groups.push_back(members);
  return it->second;
}

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

BufferId ReshardBuilder::targetBuffer(int t, const std::vector<Need> &targets) {
  auto [it, added] = buffers.emplace(t, -1);
  if (added)
    it->second =
        build.addBuffer(targets[t].device, value, name, type, targets[t].region,
                        targets[t].order, Section::Arena);
  return it->second;
}

BufferId ReshardBuilder::staging(DeviceId device, const char *suffix,
                                 const Box &box, MemoryOrder order) {
  return build.addBuffer(device, value, name.empty() ? name : name + suffix,
                         type, Region(box), order, Section::Arena);
}

/// Position of `box`, which lies within one piece of `region`, in the packed
/// local tensor.
static Shape localAt(const Region &region, const Box &box) {
  if (region.isBox()) {
    Shape at(box.rank());
    for (int d = 0; d < box.rank(); ++d)
      at[d] = box[d].lo - region.box()[d].lo;
    return at;
  }
  for (const Region::Piece &piece : region.pieces())
    if (piece.box.contains(box)) {
      Shape at = piece.at;
      for (int d = 0; d < box.rank(); ++d)
        at[d] += box[d].lo - piece.box[d].lo;
      return at;
    }
  assert(false && "box outside the region");
  return {};
}

Action ReshardBuilder::copyAction(BufferId dst, const Region &dstRegion,
                                  BufferId src, const Region &srcRegion,
                                  const Box &box, Reduction combine) {
  Action action;
  action.kind = Action::Kind::Copy;
  action.task = task;
  action.name = name;
  action.dst = dst;
  action.src = src;
  action.dstAt = localAt(dstRegion, box);
  action.srcAt = localAt(srcRegion, box);
  action.size = box.shape();
  action.combine = combine;
  return action;
}

void ReshardBuilder::collective(const CollectiveStep &step,
                                std::vector<Holding> &holdings,
                                const std::vector<PartialGroup> &groups,
                                const std::vector<Need> &targets) {
  GroupId group = build.group(step.members);
  for (size_t m = 0; m < step.members.size(); ++m) {
    DeviceId device = step.members[m];
    Action action;
    action.kind = Action::Kind::Collective;
    action.task = task;
    action.name = name;
    action.collective = step.kind;
    action.group = group;
    action.root = step.root;
    switch (step.kind) {
    case CollectiveKind::AllReduce: {
      const PartialGroup &partial = groups[step.partial];
      action.src = action.dst = partial.members[m].buffer;
      action.combine = partial.reduction;
      holdings.push_back(
          {device, Region(partial.box), partial.order, action.src});
      break;
    }
    case CollectiveKind::ReduceScatter:
      action.src = groups[step.partial].members[m].buffer;
      action.dst = targetBuffer(step.targets[m], targets);
      action.combine = groups[step.partial].reduction;
      break;
    case CollectiveKind::AllGather:
      action.src = holdings[step.holdings[m]].buffer;
      action.dst = targetBuffer(step.targets[m], targets);
      break;
    case CollectiveKind::Broadcast:
      action.src = action.dst = static_cast<int>(m) == step.root
                                    ? holdings[step.holdings[0]].buffer
                                    : targetBuffer(step.targets[m], targets);
      break;
    }
    build.addAction(device, std::move(action));
  }
  for (DeviceId device : step.members)
    build.addWait(device, task, name);
  ++task.instance;
}

void ReshardBuilder::transfers(const ReshardPlan &plan,
                               const std::vector<Holding> &holdings,
                               const std::vector<PartialGroup> &groups,
                               const std::vector<Need> &targets) {
  // Per device: packing copies, one exchange, then unpacking and local copies
  // in the order of the plan, which fixes the order of sums.
  struct Side {
    std::vector<Action> before, after;
    std::vector<Message> sends, receives;
  };
  std::map<DeviceId, Side> sides;
  for (const TransferStep &step : plan.transfers) {
    Holding source;
    if (step.holding >= 0) {
      source = holdings[step.holding];
    } else {
      const PartialGroup &group = groups[step.partial];
      source = {group.members[step.member].device, Region(group.box),
                group.order, group.members[step.member].buffer};
    }
    const Need &target = targets[step.target];
    BufferId dst = targetBuffer(step.target, targets);
    Side &to = sides[target.device];
    if (source.device == target.device) {
      to.after.push_back(copyAction(dst, target.region, source.buffer,
                                    source.region, step.box, step.combine));
      continue;
    }
    Side &from = sides[source.device];
    Region box(step.box);
    BufferId sent = source.buffer, received = dst;
    if (source.region != box || source.order != target.order) {
      sent = staging(source.device, ".send", step.box, target.order);
      from.before.push_back(copyAction(sent, box, source.buffer, source.region,
                                       step.box, Reduction::None));
    }
    if (target.region != box || step.combine != Reduction::None) {
      received = staging(target.device, ".receive", step.box, target.order);
      to.after.push_back(copyAction(dst, target.region, received, box, step.box,
                                    step.combine));
    }
    from.sends.push_back({target.device, sent});
    to.receives.push_back({source.device, received});
  }
  int tag = build.nextTag++;
  for (auto &[device, side] : sides)
    for (Action &action : side.before)
      build.addAction(device, std::move(action));
  std::vector<DeviceId> waiting;
  for (auto &[device, side] : sides) {
    if (side.sends.empty() && side.receives.empty())
      continue;
    Action action;
    action.kind = Action::Kind::Exchange;
    action.task = task;
    action.name = name;
    action.tag = tag;
    action.sends = std::move(side.sends);
    action.receives = std::move(side.receives);
    build.addAction(device, std::move(action));
    waiting.push_back(device);
  }
  for (DeviceId device : waiting)
    build.addWait(device, task, name);
  for (auto &[device, side] : sides)
    for (Action &action : side.after)
      build.addAction(device, std::move(action));
}

void ReshardBuilder::apply(const ReshardPlan &plan,
                           std::vector<Holding> &holdings,
                           std::vector<PartialGroup> &groups,
                           const std::vector<Need> &targets) {
  for (const CollectiveStep &step : plan.collectives)
    collective(step, holdings, groups, targets);
  if (!plan.transfers.empty())
    transfers(plan, holdings, groups, targets);
  for (auto [t, buffer] : buffers)
    holdings.push_back(
        {targets[t].device, targets[t].region, targets[t].order, buffer});

  std::vector<PartialGroup> kept;
  for (size_t g = 0; g < groups.size(); ++g)
    if (std::none_of(plan.collectives.begin(), plan.collectives.end(),
                     [&](const CollectiveStep &step) {
                       return step.kind == CollectiveKind::AllReduce &&
                              step.partial == static_cast<int>(g);
                     }))
      kept.push_back(std::move(groups[g]));
  groups = std::move(kept);
}
