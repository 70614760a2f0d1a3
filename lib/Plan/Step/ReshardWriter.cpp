//===- ReshardWriter.cpp - the tasks of a planned reshard -----------------===//

#include "ReshardWriter.h"

#include <algorithm>

using namespace ffc::plan;

bool ffc::plan::isMessages(const ReshardPlan &plan, const Holdings &holdings,
                           const std::vector<Need> &targets) {
  return plan.collectives.empty() &&
         std::all_of(plan.transfers.begin(), plan.transfers.end(),
                     [&](const TransferStep &step) {
                       return step.holding >= 0 && !step.unpacked &&
                              holdings[step.holding].device !=
                                  targets[step.target].device;
                     });
}

BufferId ReshardWriter::targetBuffer(int t) {
  if (buffers[t] < 0)
    buffers[t] =
        sink.addBuffer(targets[t].device, value, name, type, targets[t].region,
                       targets[t].order, Section::Arena);
  return buffers[t];
}

BufferId ReshardWriter::staging(DeviceId device, const std::string &name,
                                const Region &region, MemoryOrder order) {
  return sink.addBuffer(device, value, name, type, region, order,
                        Section::Arena);
}

TaskSink::Collective
ReshardWriter::collective(const CollectiveStep &step, Holdings &holdings,
                          const std::vector<PartialGroup> &groups) {
  TaskSink::Collective collective;
  collective.kind = step.kind;
  collective.algorithm = step.algorithm;
  collective.schedule = step.schedule;
  collective.members = step.members;
  collective.root = step.root;
  if (step.partial >= 0)
    collective.combine = groups[step.partial].reduction;
  for (size_t m = 0; m < step.members.size(); ++m) {
    BufferId src = -1, dst = -1;
    switch (step.kind) {
    case CollectiveKind::AllReduce: {
      const PartialGroup &partial = groups[step.partial];
      src = dst = partial.members[m].buffer;
      holdings.add({step.members[m], Region(partial.box), partial.order, src});
      break;
    }
    case CollectiveKind::ReduceScatter:
      src = groups[step.partial].members[m].buffer;
      dst = targetBuffer(step.targets[m]);
      break;
    case CollectiveKind::AllGather:
      src = holdings[step.holdings[m]].buffer;
      dst = targetBuffer(step.targets[m]);
      break;
    case CollectiveKind::Broadcast:
      src = dst = static_cast<int>(m) == step.root
                      ? holdings[step.holdings[0]].buffer
                      : targetBuffer(step.targets[m]);
      break;
    }
    collective.src.push_back(src);
    collective.dst.push_back(dst);
  }
  return collective;
}

/// Device by device, on each in the order of the plan, which fixes the order of
/// sums.
void ReshardWriter::write(const std::vector<RegionCopy> &copies) {
  DeviceIndex byDevice;
  for (const RegionCopy &copy : copies)
    byDevice.add(copy.device);
  for (DeviceId device = 0; device < byDevice.endOfDevices(); ++device)
    for (int c = byDevice.first(device); c >= 0; c = byDevice.next(c))
      copies[c].region->forEachBox([&](const Box &box) {
        sink.copy({device, byDevice.numDevices(), copies[c].dst, copies[c].src,
                   box, copies[c].combine},
                  task, name);
      });
}

/// Packing copies, one exchange, then unpacking and local copies.
void ReshardWriter::transfers(const ReshardPlan &plan, const Holdings &holdings,
                              const std::vector<PartialGroup> &groups,
                              TaskSink::Waits *later) {
  std::vector<RegionCopy> before, after;
  std::vector<TaskSink::Sent> messages;
  for (std::vector<RegionCopy> *copies : {&before, &after})
    copies->reserve(plan.transfers.size());
  messages.reserve(plan.transfers.size());
  for (const TransferStep &step : plan.transfers) {
    DeviceId device;
    BufferId source;
    if (step.holding >= 0) {
      device = holdings[step.holding].device;
      source = holdings[step.holding].buffer;
    } else {
      const auto &member = groups[step.partial].members[step.member];
      device = member.device;
      source = member.buffer;
    }
    const Need &target = targets[step.target];
    const BufferId dst = targetBuffer(step.target);
    if (device == target.device) {
      after.push_back({device, dst, source, &step.region, step.combine});
      continue;
    }
    BufferId sent = source, received = dst;
    if (step.packed) {
      sent = staging(device, sendName, step.region, target.order);
      before.push_back({device, sent, source, &step.region, Reduction::None});
    }
    if (step.unpacked) {
      received = staging(target.device, receiveName, step.region, target.order);
      after.push_back(
          {target.device, dst, received, &step.region, step.combine});
    }
    messages.push_back({device, target.device, sent, received});
  }
  write(before);
  if (!messages.empty())
    sink.exchange(messages, plan.exchange, task, name, later);
  write(after);
}

void ReshardWriter::write(const ReshardPlan &plan, Holdings &holdings,
                          std::vector<PartialGroup> &groups,
                          TaskSink::Waits *later) {
  if (!plan.collectives.empty()) {
    std::vector<TaskSink::Collective> all;
    for (const CollectiveStep &step : plan.collectives)
      all.push_back(collective(step, holdings, groups));
    sink.collectives(all, task, name, later);
    task = task.later(static_cast<int>(all.size()));
  }
  if (!plan.transfers.empty())
    transfers(plan, holdings, groups, later);
  for (size_t t = 0; t < targets.size(); ++t)
    if (buffers[t] >= 0)
      holdings.add(
          {targets[t].device, targets[t].region, targets[t].order, buffers[t]});

  std::vector<char> reduced(groups.size());
  for (const CollectiveStep &step : plan.collectives)
    if (step.kind == CollectiveKind::AllReduce)
      reduced[step.partial] = true;
  std::vector<PartialGroup> kept;
  for (size_t g = 0; g < groups.size(); ++g)
    if (!reduced[g])
      kept.push_back(std::move(groups[g]));
  groups = std::move(kept);
}
