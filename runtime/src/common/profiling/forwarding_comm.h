//===- forwarding_comm.h - communication by another Comm --------*- C++ -*-===//
#ifndef FFRT_COMMON_FORWARDING_COMM_H
#define FFRT_COMMON_FORWARDING_COMM_H

#include "ffrt/comm.h"

namespace ffrt {

/// Passes everything on to another Comm, which must outlive it; classes that
/// change some of that derive from it.
class ForwardingComm : public Comm {
public:
  explicit ForwardingComm(Comm &comm) : comm(comm) {}

  int rank() const override { return comm.rank(); }
  int size() const override { return comm.size(); }
  std::shared_ptr<Watch> watch() const override { return comm.watch(); }
  Group make_group(const std::vector<int> &members) override {
    return comm.make_group(members);
  }
  Event exchange(const char *task, int tag, const std::vector<Message> &sends,
                 const std::vector<Message> &receives) override {
    return comm.exchange(task, tag, sends, receives);
  }
  Event all_reduce(const char *task, const Group &group, Tensor data,
                   ReduceOp op, CollectiveAlgorithm algorithm) override {
    return comm.all_reduce(task, group, data, op, algorithm);
  }
  Event all_gather(const char *task, const Group &group, Tensor part,
                   Tensor whole) override {
    return comm.all_gather(task, group, part, whole);
  }
  Event reduce_scatter(const char *task, const Group &group, Tensor whole,
                       Tensor part, ReduceOp op) override {
    return comm.reduce_scatter(task, group, whole, part, op);
  }
  Event broadcast(const char *task, const Group &group, int root,
                  Tensor data) override {
    return comm.broadcast(task, group, root, data);
  }
  void start_together(int count) override { comm.start_together(count); }
  bool exchanges_in_order() const override { return comm.exchanges_in_order(); }
  void wait(Event event) override { comm.wait(event); }
  std::size_t wait_any(const std::vector<Event> &events) override {
    return comm.wait_any(events);
  }
  void barrier() override { comm.barrier(); }

protected:
  void end_ranks(const char *task, const char *cause) override {
    comm.fail(task, cause);
  }

  Comm &comm;
};

} // namespace ffrt

#endif // FFRT_COMMON_FORWARDING_COMM_H
