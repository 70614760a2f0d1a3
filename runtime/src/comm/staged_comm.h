//===- staged_comm.h - communication of device memory -----------*- C++ -*-===//
#ifndef FFRT_COMM_STAGED_COMM_H
#define FFRT_COMM_STAGED_COMM_H

#include "ffrt/comm.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace ffrt {

/// Communication of tensors in the device's memory over a Comm of the host:
/// what is sent is copied to the host when an operation starts, and what was
/// received to the device when it has been waited for. Serves where ranks share
/// a GPU, and where no better transport is. The other Comm must outlive it.
class StagedComm final : public Comm {
public:
  explicit StagedComm(Comm &host) : host(host) {}

  int rank() const override { return host.rank(); }
  int size() const override { return host.size(); }
  bool exchanges_in_order() const override { return false; }
  Group make_group(const std::vector<int> &members) override {
    return host.make_group(members);
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
  void wait(Event event) override;
  std::size_t wait_any(const std::vector<Event> &events) override;
  void barrier() override;

protected:
  void end_ranks(const char *task, const char *cause) override {
    host.fail(task, cause);
  }

private:
  /// A tensor on its way; slots are reused, so that steps after the first
  /// allocate nothing.
  struct Copy {
    Tensor there;
    bool received = false;
    std::vector<std::byte> memory;
  };
  struct Pending {
    bool used = false;
    Event event; ///< of the host's Comm
    std::vector<Copy> copies;
    std::size_t count = 0; ///< of those that are in use
  };

  int free_slot();
  /// Of what has happened on the host.
  void finish(Pending &pending);
  /// The tensor on the host: with its contents if it is `sent`, to be copied
  /// back if it is `received`.
  static Tensor stage(Pending &pending, const Tensor &t, bool sent,
                      bool received);
  void move(std::vector<Message> &to, Pending &pending,
            const std::vector<Message> &messages, bool received);

  Comm &host;
  std::deque<Pending> pending;
  std::vector<Message> sent, expected; ///< of the exchange that starts
  std::vector<Event> of_host;          ///< what is waited for
};

} // namespace ffrt

#endif // FFRT_COMM_STAGED_COMM_H
