//===- ProgramBuilder.cpp - appends actions and buffers -------------------===//

#include "ProgramBuilder.h"

#include <algorithm>
#include <utility>

using namespace ffc::plan;

ProgramBuilder::ProgramBuilder(const Graph &graph, int numDevices)
    : graph(graph), names(numDevices) {
  program.devices.resize(numDevices);
}

BufferId ProgramBuilder::addBuffer(DeviceId device, ValueId value,
                                   const std::string &name,
                                   const TensorType &type, const Region &region,
                                   MemoryOrder order, Section section) {
  auto &buffers = program.devices[device].buffers;
  Buffer &buffer = buffers.emplace_back();
  // A name with a number may be that of another value as well.
  std::unordered_map<std::string, int> &taken = names[device];
  int &count = taken[name];
  do {
    ++count;
    buffer.name = count > 1 ? name + "." + std::to_string(count) : name;
  } while (count > 1 && !taken.emplace(buffer.name, 1).second);
  buffer.value = value;
  buffer.global = type.shape;
  buffer.region = region;
  buffer.type = type.type;
  buffer.order = order;
  buffer.section = section;
  buffer.bytes = bufferBytes(region, order, type.type);
  return static_cast<BufferId>(buffers.size()) - 1;
}

int ProgramBuilder::addAction(DeviceId device, Action action) {
  std::vector<Action> &actions = program.devices[device].actions;
  const int index = static_cast<int>(actions.size());
  program.order.push_back({device, index});
  actions.push_back(std::move(action));
  return index;
}

void ProgramBuilder::wait(const Waits &waits, const std::string &name) {
  for (const Wait &wait : waits)
    addAction(wait.device, {wait.task, name, WaitAction{wait.event}});
}

GroupId ProgramBuilder::group(const std::vector<DeviceId> &members) {
  auto [it, added] =
      groups.emplace(members, static_cast<GroupId>(program.groups.size()));
  if (added)
    program.groups.push_back(members);
  return it->second;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void ProgramBuilder::kernel(const Kernel &kernel) {
  device(kernel.device).flops +=
      flopsOf(kernel.phase, kernel.tile) *
      (graph.isRepeated(kernel.task.op) ? graph.microBatches : 1);
  addAction(kernel.device, {kernel.task, graph.op(kernel.task.op).name,
                            KernelAction{kernel.phase.kernel, kernel.phase.kind,
                                         kernel.ins, kernel.outs, kernel.tile,
                                         kernel.addsTo, kernel.devices}});
}

/// Position of `box`, which lies within one piece of `region`, in the packed
/// local tensor.
static Shape localAt(const Region &region, const Box &box) {
  Shape at(box.rank());
  for (int d = 0; d < box.rank(); ++d)
    for (Interval interval : region.dim(d)) {
      if (interval.contains(box[d])) {
        at[d] += box[d].lo - interval.lo;
        break;
      }
      at[d] += interval.size();
    }
  return at;
}

void ProgramBuilder::copy(const Copy &copy, TaskId task,
                          const std::string &name) {
  const auto &buffers = program.devices[copy.device].buffers;
  CopyAction action;
  action.dst = copy.dst;
  action.src = copy.src;
  action.dstAt = localAt(buffers[copy.dst].region, copy.box);
  action.srcAt = localAt(buffers[copy.src].region, copy.box);
  action.size = copy.box.shape();
  action.combine = copy.combine;
  action.accumulates = copy.accumulates;
  action.devices = copy.devices;
  addAction(copy.device, {task, name, std::move(action)});
}

void ProgramBuilder::exchange(const std::vector<Sent> &messages,
                              const Busy & /*busy*/, ReshardTask task,
                              const std::string &name, Waits *later) {
  std::map<DeviceId, ExchangeAction> parts;
  for (const Sent &message : messages) {
    parts[message.src].sends.push_back({message.dst, message.from});
    parts[message.dst].receives.push_back({message.src, message.to});
  }
  const int tag = nextTag++;
  Waits waits;
  for (auto &[device, part] : parts) {
    part.tag = tag;
    const int event = addAction(device, {task, name, std::move(part)});
    waits.push_back({device, event, task});
  }
  if (later)
    later->insert(later->end(), waits.begin(), waits.end());
  else
    wait(waits, name);
}

void ProgramBuilder::collectives(const std::vector<Collective> &all,
                                 ReshardTask task, const std::string &name,
                                 Waits *later) {
  Call call{all, task, name, later};
  if (isBatching)
    batch.push_back(std::move(call));
  else
    collectives({std::move(call)}, /*isBatch=*/false);
}

void ProgramBuilder::endBatch() {
  isBatching = false;
  collectives(std::exchange(batch, {}), /*isBatch=*/true);
}

void ProgramBuilder::collectives(const std::vector<Call> &calls, bool isBatch) {
  std::vector<GroupId> groups;
  for (const Collective &collective : calls[0].all)
    groups.push_back(group(collective.members));
  const int together = static_cast<int>(program.together.size());
  program.together.push_back(groups);
  for (size_t c = 0; c < groups.size(); ++c) {
    int number = -1;
    if (isBatch) {
      number = static_cast<int>(program.batches.size());
      program.batches.emplace_back();
    }
    for (const Call &call : calls) {
      Waits waits = addCollective(call, c, together, number);
      if (call.later)
        call.later->insert(call.later->end(), waits.begin(), waits.end());
      else
        wait(waits, call.name);
    }
  }
}

int ProgramBuilder::scheduleNumber(
    const std::shared_ptr<const CollectiveSchedule> &schedule) {
  if (!schedule)
    return -1;
  // A group's schedules are made once, so that equal ones are one object, or
  // of different groups.
  auto [known, isNew] = scheduleNumbers.try_emplace(
      schedule.get(), static_cast<int>(program.schedules.size()));
  if (isNew) {
    for (size_t i = 0; i < program.schedules.size(); ++i)
      if (*program.schedules[i] == *schedule)
        return known->second = static_cast<int>(i);
    program.schedules.push_back(schedule);
  }
  return known->second;
}

TaskSink::Waits ProgramBuilder::addCollective(const Call &call, size_t index,
                                              int together, int batch) {
  const Collective &collective = call.all[index];
  const ReshardTask task = call.task.later(static_cast<int>(index));
  if (batch >= 0) {
    const auto &buffers = device(collective.members[0]).buffers;
    Program::Batch &all = program.batches[batch];
    if (all.bytes == 0)
      all.first = task;
    all.bytes += collectiveBytes(buffers[collective.src[0]].bytes,
                                 buffers[collective.dst[0]].bytes);
  }
  const int schedule = scheduleNumber(collective.schedule);
  Waits waits;
  for (size_t m = 0; m < collective.members.size(); ++m) {
    const DeviceId member = collective.members[m];
    CollectiveAction action;
    action.kind = collective.kind;
    action.algorithm = collective.algorithm;
    action.group = program.together[together][index];
    action.dst = collective.dst[m];
    action.src = collective.src[m];
    action.combine = collective.combine;
    action.root = collective.root;
    action.schedule = schedule;
    action.together = together;
    action.batch = batch;
    const int event = addAction(member, {task, call.name, action});
    waits.push_back({member, event, task});
  }
  return waits;
}
