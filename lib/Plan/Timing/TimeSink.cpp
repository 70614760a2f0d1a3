//===- TimeSink.cpp - planned tasks as durations --------------------------===//

#include "TimeSink.h"

using namespace ffc::plan;

BufferId TimeSink::addBuffer(DeviceId /*device*/, ValueId /*value*/,
                             const std::string & /*name*/,
                             const TensorType &type, const Region &region,
                             MemoryOrder order, Section /*section*/) {
  BufferFacts &buffer = buffers.emplace_back();
  buffer.bytes = bufferBytes(region, order, type.type);
  buffer.type = type.type;
  buffer.order = order;
  if (cost.profile())
    buffer.text = bufferText(type.type, region.shape(), order);
  return static_cast<BufferId>(buffers.size()) - 1;
}

void TimeSink::kernel(const Kernel &kernel) {
  auto list = [&](const std::vector<BufferId> &ids,
                  std::vector<const BufferFacts *> &facts) {
    facts.clear();
    for (BufferId id : ids)
      facts.push_back(id < 0 ? nullptr : &buffers[id]);
  };
  list(kernel.ins, ins);
  list(kernel.outs, outs);
  addLocal(kernel.device, kernel.devices,
           kernelWork(graph.op(kernel.task.op), kernel.phase, kernel.tile, ins,
                      outs, kernel.addsTo, cost.profile() != nullptr));
}

void TimeSink::copy(const Copy &copy, TaskId /*task*/,
                    const std::string & /*name*/) {
  const bool withKey = cost.profile() != nullptr;
  const Shape shape = withKey ? copy.box.shape() : Shape();
  addLocal(copy.device, copy.devices,
           copyWork(buffers[copy.dst], buffers[copy.src], copy.box.volume(),
                    copy.combine != Reduction::None || copy.accumulates,
                    withKey ? &shape : nullptr));
}

void TimeSink::exchange(const std::vector<Sent> &messages, const Busy &busy,
                        ReshardTask /*task*/, const std::string & /*name*/,
                        Waits * /*later*/) {
  closeLocal();
  std::vector<std::pair<DeviceId, DeviceId>> met;
  met.reserve(messages.size());
  for (const Sent &message : messages)
    met.push_back({message.src, message.dst});
  tasks.addExchange(busy, met);
}

void TimeSink::collectives(const std::vector<Collective> &all,
                           ReshardTask /*task*/, const std::string & /*name*/,
                           Waits * /*later*/) {
  closeLocal();
  std::vector<std::vector<DeviceId>> groups;
  for (const Collective &collective : all)
    groups.push_back(collective.members);
  auto paths = cost.paths(groups);
  for (size_t c = 0; c < all.size(); ++c) {
    int64_t bytes = collectiveBytes(buffers[all[c].src[0]].bytes,
                                    buffers[all[c].dst[0]].bytes);
    tasks.addCollective(all[c].members,
                        CostModel::costOf(all[c].kind, all[c].algorithm,
                                          all[c].schedule.get(), (*paths)[c],
                                          bytes)
                            .time);
  }
}

void TimeSink::addLocal(DeviceId device, int devices, LocalWork work) {
  work.devices = devices;
  const Picoseconds duration = cost.local(device, work).time;
  if (duration == 0)
    return;
  if (tasks.tasks.empty() || tasks.tasks.back().kind != TimedTasks::Kind::Local)
    tasks.addTask(TimedTasks::Kind::Local);
  if (partOf[device] < 0) {
    partOf[device] = static_cast<int>(tasks.parts.size());
    tasks.parts.push_back({device, 0});
    ++tasks.tasks.back().endPart;
  }
  tasks.parts[partOf[device]].duration += duration;
}

void TimeSink::closeLocal() {
  if (tasks.tasks.empty() || tasks.tasks.back().kind != TimedTasks::Kind::Local)
    return;
  for (size_t p = tasks.tasks.back().firstPart; p < tasks.parts.size(); ++p)
    partOf[tasks.parts[p].device] = -1;
}

TimedTasks TimeSink::take() {
  closeLocal();
  TimedTasks taken = std::move(tasks);
  tasks = {};
  taken.tasks.shrink_to_fit();
  taken.parts.shrink_to_fit();
  taken.rendezvous.shrink_to_fit();
  taken.members.shrink_to_fit();
  return taken;
}
