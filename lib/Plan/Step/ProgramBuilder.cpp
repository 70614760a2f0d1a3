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
  std::map<std::string, int> &taken = names[device];
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
  buffer.bytes = region.volume() * byteSize(type.type);
  return static_cast<BufferId>(buffers.size()) - 1;
}

void ProgramBuilder::addAction(DeviceId device, Action action) {
  std::vector<Action> &actions = program.devices[device].actions;
  program.order.push_back({device, static_cast<int>(actions.size())});
  actions.push_back(std::move(action));
}

TaskSink::Wait ProgramBuilder::lastOf(DeviceId device, TaskId task) const {
  return {device, static_cast<int>(program.devices[device].actions.size()) - 1,
          task};
}

void ProgramBuilder::wait(const Waits &waits, const std::string &name) {
  for (const Wait &wait : waits) {
    Action action;
    action.kind = Action::Kind::Wait;
    action.task = wait.task;
    action.name = name;
    action.event = wait.event;
    addAction(wait.device, std::move(action));
  }
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
  Action action;
  action.kind = Action::Kind::Kernel;
  action.task = kernel.task;
  action.name = graph.op(kernel.task.op).name;
  action.devices = kernel.devices;
  action.kernel = kernel.phase.kernel;
  action.part = kernel.phase.kind;
  action.tile = kernel.tile;
  action.ins = kernel.ins;
  action.outs = kernel.outs;
  device(kernel.device).flops +=
      flopsOf(kernel.phase, kernel.tile) *
      (kernel.task.op < graph.passEnd ? graph.passes : 1);
  addAction(kernel.device, std::move(action));
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
  Action action;
  action.kind = Action::Kind::Copy;
  action.task = task;
  action.name = name;
  action.devices = copy.devices;
  action.dst = copy.dst;
  action.src = copy.src;
  action.dstAt = localAt(buffers[copy.dst].region, copy.box);
  action.srcAt = localAt(buffers[copy.src].region, copy.box);
  action.size = copy.box.shape();
  action.combine = copy.combine;
  action.accumulates = copy.accumulates;
  addAction(copy.device, std::move(action));
}

void ProgramBuilder::exchange(const std::vector<Sent> &messages,
                              const Busy & /*busy*/, TaskId task,
                              const std::string &name) {
  std::map<DeviceId, Action> actions;
  for (const Sent &message : messages) {
    actions[message.src].sends.push_back({message.dst, message.from});
    actions[message.dst].receives.push_back({message.src, message.to});
  }
  const int tag = nextTag++;
  Waits waits;
  for (auto &[device, action] : actions) {
    action.kind = Action::Kind::Exchange;
    action.task = task;
    action.name = name;
    action.tag = tag;
    addAction(device, std::move(action));
    waits.push_back(lastOf(device, task));
  }
  wait(waits, name);
}

void ProgramBuilder::collectives(const std::vector<Collective> &all,
                                 TaskId task, const std::string &name,
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

TaskSink::Waits ProgramBuilder::addCollective(const Call &call, size_t index,
                                              int together, int batch) {
  const Collective &collective = call.all[index];
  TaskId task = call.task;
  task.instance += static_cast<int>(index);
  if (batch >= 0) {
    const auto &buffers = device(collective.members[0]).buffers;
    Program::Batch &all = program.batches[batch];
    if (all.bytes == 0)
      all.first = task;
    all.bytes += collectiveBytes(buffers[collective.src[0]].bytes,
                                 buffers[collective.dst[0]].bytes);
  }
  Waits waits;
  for (size_t m = 0; m < collective.members.size(); ++m) {
    Action action;
    action.kind = Action::Kind::Collective;
    action.task = task;
    action.name = call.name;
    action.collective = collective.kind;
    action.group = program.together[together][index];
    action.together = together;
    action.batch = batch;
    action.root = collective.root;
    action.src = collective.src[m];
    action.dst = collective.dst[m];
    action.combine = collective.combine;
    addAction(collective.members[m], std::move(action));
    waits.push_back(lastOf(collective.members[m], task));
  }
  return waits;
}
