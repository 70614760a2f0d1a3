//===- shared_groups.h - every group once -----------------------*- C++ -*-===//
#ifndef FFRT_COMMON_SHARED_GROUPS_H
#define FFRT_COMMON_SHARED_GROUPS_H

#include "ffrt/comm.h"

#include <map>
#include <vector>

namespace ffrt {

/// Makes every group once: programs that run one after the other in a process
/// ask for the same few, and groups hold memory until the process ends.
class SharedGroups final : public Comm {
public:
  explicit SharedGroups(Comm &comm) : comm(comm) {}

  int rank() const override { return comm.rank(); }
  int size() const override { return comm.size(); }
  std::shared_ptr<Watch> watch() const override { return comm.watch(); }
  Group make_group(const std::vector<int> &members) override {
    auto found = groups.find(members);
    if (found == groups.end())
      found = groups.emplace(members, comm.make_group(members)).first;
    return found->second;
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

private:
  Comm &comm;
  std::map<std::vector<int>, Group> groups;
};

} // namespace ffrt

#endif // FFRT_COMMON_SHARED_GROUPS_H
