//===- traced_comm.cpp - communication as tasks of a trace ----------------===//
#include "common/profiling/traced_comm.h"

namespace ffrt {

using Kind = Trace::Kind;

Event TracedComm::started(std::size_t record, Event event) {
  trace.stop(record);
  if (event.id >= 0) {
    if (record_of.size() <= std::size_t(event.id))
      record_of.resize(std::size_t(event.id) + 1);
    record_of[std::size_t(event.id)] = record;
  }
  return event;
}

Event TracedComm::exchange(const char *task, int tag,
                           const std::vector<Message> &sends,
                           const std::vector<Message> &receives) {
  const std::size_t record = trace.start(Kind::exchange);
  return started(record, comm.exchange(task, tag, sends, receives));
}

Event TracedComm::all_reduce(const char *task, const Group &group, Tensor data,
                             ReduceOp op, CollectiveAlgorithm algorithm) {
  const std::size_t record = trace.start(Kind::collective);
  return started(record, comm.all_reduce(task, group, data, op, algorithm));
}

Event TracedComm::all_gather(const char *task, const Group &group, Tensor part,
                             Tensor whole) {
  const std::size_t record = trace.start(Kind::collective);
  return started(record, comm.all_gather(task, group, part, whole));
}

Event TracedComm::reduce_scatter(const char *task, const Group &group,
                                 Tensor whole, Tensor part, ReduceOp op) {
  const std::size_t record = trace.start(Kind::collective);
  return started(record, comm.reduce_scatter(task, group, whole, part, op));
}

Event TracedComm::broadcast(const char *task, const Group &group, int root,
                            Tensor data) {
  const std::size_t record = trace.start(Kind::collective);
  return started(record, comm.broadcast(task, group, root, data));
}

Event TracedComm::scheduled(const char *task,
                            const std::vector<ScheduledCollective *> &all) {
  std::size_t record = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    record = trace.start(Kind::collective);
  const Event event = comm.scheduled(task, all);
  for (std::size_t i = 0; i < all.size(); ++i)
    trace.stop(record - i);
  return event;
}

void TracedComm::wait(Event event) {
  // What is complete is not waited for.
  if (event.id < 0)
    return comm.wait(event);
  const std::size_t record = record_of[std::size_t(event.id)];
  const std::size_t waiting = trace.start_wait(record);
  comm.wait(event);
  trace.stop(waiting);
  trace.stop(record);
}

void TracedComm::end_ranks(const char *task, const char *cause) {
  comm.fail(task, cause);
}

} // namespace ffrt
