//===- staged_comm.cpp - communication of device memory -------------------===//
#include "comm/staged_comm.h"

#include "common/device/host_tensor.h"
#include "common/device/target.h"

namespace ffrt {

int StagedComm::free_slot() {
  std::size_t slot = 0;
  while (slot < pending.size() && pending[slot].used)
    ++slot;
  if (slot == pending.size())
    pending.emplace_back();
  pending[slot].used = true;
  pending[slot].count = 0;
  return int(slot);
}

Tensor StagedComm::stage(Pending &pending, const Tensor &t, bool sent,
                         bool received) {
  if (pending.count == pending.copies.size())
    pending.copies.emplace_back();
  Copy &copy = pending.copies[pending.count++];
  copy.there = t;
  copy.received = received;
  copy.memory.resize(std::size_t(bytes_of(t)));
  if (sent)
    read_target(copy.memory.data(), t.data, copy.memory.size());
  Tensor here = t;
  here.data = copy.memory.data();
  return here;
}

void StagedComm::move(std::vector<Message> &to, Pending &pending,
                      const std::vector<Message> &messages, bool received) {
  to.clear();
  for (const Message &message : messages)
    to.push_back(
        {message.peer, stage(pending, message.tensor, !received, received)});
}

Event StagedComm::exchange(const char *task, int tag,
                           const std::vector<Message> &sends,
                           const std::vector<Message> &receives) {
  const int slot = free_slot();
  Pending &p = pending[std::size_t(slot)];
  move(sent, p, sends, false);
  move(expected, p, receives, true);
  p.event = host.exchange(task, tag, sent, expected);
  return {slot};
}

Event StagedComm::all_reduce(const char *task, const Group &group, Tensor data,
                             ReduceOp op, CollectiveAlgorithm algorithm) {
  const int slot = free_slot();
  Pending &p = pending[std::size_t(slot)];
  p.event =
      host.all_reduce(task, group, stage(p, data, true, true), op, algorithm);
  return {slot};
}

Event StagedComm::all_gather(const char *task, const Group &group, Tensor part,
                             Tensor whole) {
  const int slot = free_slot();
  Pending &p = pending[std::size_t(slot)];
  const Tensor mine = stage(p, part, true, false);
  p.event = host.all_gather(task, group, mine, stage(p, whole, false, true));
  return {slot};
}

Event StagedComm::reduce_scatter(const char *task, const Group &group,
                                 Tensor whole, Tensor part, ReduceOp op) {
  const int slot = free_slot();
  Pending &p = pending[std::size_t(slot)];
  const Tensor all = stage(p, whole, true, false);
  p.event =
      host.reduce_scatter(task, group, all, stage(p, part, false, true), op);
  return {slot};
}

Event StagedComm::broadcast(const char *task, const Group &group, int root,
                            Tensor data) {
  const int slot = free_slot();
  Pending &p = pending[std::size_t(slot)];
  const bool is_root = group.members[std::size_t(root)] == rank();
  p.event =
      host.broadcast(task, group, root, stage(p, data, is_root, !is_root));
  return {slot};
}

void StagedComm::wait(Event event) {
  if (event.id < 0)
    return;
  Pending &p = pending[std::size_t(event.id)];
  host.wait(p.event);
  finish(p);
}

std::size_t StagedComm::wait_any(const std::vector<Event> &events) {
  of_host.clear();
  for (Event event : events)
    of_host.push_back(pending[std::size_t(event.id)].event);
  const std::size_t place = host.wait_any(of_host);
  finish(pending[std::size_t(events[place].id)]);
  return place;
}

void StagedComm::finish(Pending &p) {
  for (std::size_t i = 0; i < p.count; ++i)
    if (const Copy &copy = p.copies[i]; copy.received)
      write_target(copy.there.data, copy.memory.data(), copy.memory.size());
  p.used = false;
}

void StagedComm::barrier() {
  finish_target();
  host.barrier();
}

} // namespace ffrt
