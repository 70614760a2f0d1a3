//===- traced_comm.h - communication as tasks of a trace --------*- C++ -*-===//
#ifndef FFRT_COMMON_TRACED_COMM_H
#define FFRT_COMMON_TRACED_COMM_H

#include "ffrt/comm.h"
#include "ffrt/trace.h"

namespace ffrt {

/// Passes everything to another Comm and notes when it starts and ends. What
/// goes on beside computation ends when it has been waited for, at the latest.
class TracedComm final : public Comm {
public:
  TracedComm(Comm &comm, Trace &trace) : comm(comm), trace(trace) {}

  int rank() const override { return comm.rank(); }
  int size() const override { return comm.size(); }
  Group make_group(const std::vector<int> &members) override {
    return comm.make_group(members);
  }
  Event exchange(const char *task, int tag, const std::vector<Message> &sends,
                 const std::vector<Message> &receives) override;
  Event all_reduce(const char *task, const Group &group, Tensor data,
                   ReduceOp op, CollectiveAlgorithm algorithm) override;
  Event all_gather(const char *task, const Group &group, Tensor part,
                   Tensor whole) override;
  Event reduce_scatter(const char *task, const Group &group, Tensor whole,
                       Tensor part, ReduceOp op) override;
  Event broadcast(const char *task, const Group &group, int root,
                  Tensor data) override;
  Event scheduled(const char *task,
                  const std::vector<ScheduledCollective *> &all) override;
  void start_together(int count) override { comm.start_together(count); }
  bool exchanges_in_order() const override { return comm.exchanges_in_order(); }
  void wait(Event event) override;
  void barrier() override { comm.barrier(); }

protected:
  void end_ranks(const char *task, const char *cause) override;

private:
  /// Of a task that has been started as `event`.
  Event started(std::size_t record, Event event);

  Comm &comm;
  Trace &trace;
  /// The records of events under way, by their numbers.
  std::vector<std::size_t> record_of;
};

} // namespace ffrt

#endif // FFRT_COMMON_TRACED_COMM_H
