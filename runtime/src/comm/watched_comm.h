//===- watched_comm.h - communication with a deadline -----------*- C++ -*-===//
#ifndef FFRT_COMM_WATCHED_COMM_H
#define FFRT_COMM_WATCHED_COMM_H

#include "comm/watch.h"
#include "ffrt/mpi.h"

#include <deque>
#include <memory>

namespace ffrt {

/// Passes everything to another Comm, and tells the watch which operation this
/// rank starts or waits for.
class WatchedComm final : public Comm {
public:
  WatchedComm(std::unique_ptr<Comm> comm, std::shared_ptr<Watch> watch);
  ~WatchedComm() override;

  int rank() const override { return comm->rank(); }
  int size() const override { return comm->size(); }
  std::shared_ptr<Watch> watch() const override { return watching; }
  double waited() const override { return seconds; }
  void time_waits(bool on) override { timed = on; }
  Group make_group(const std::vector<int> &members) override;
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
  void start_together(int count) override { comm->start_together(count); }
  bool exchanges_in_order() const override {
    return comm->exchanges_in_order();
  }
  void wait(Event event) override;
  std::size_t wait_any(const std::vector<Event> &events) override;
  void barrier() override;

protected:
  void end_ranks(const char *task, const char *cause) override {
    comm->fail(task, cause);
  }

private:
  /// Starts what `begun` describes.
  template <class F> Event start(F &&operation);
  template <class F>
  Event collective(const char *task, const char *kind, const Group &group,
                   F &&operation);

  /// Adds how long it lives to `seconds`.
  class Timer;

  std::unique_ptr<Comm> comm;
  const std::shared_ptr<Watch> watching;
  /// Operations are used again, so that steps after the first allocate nothing.
  Watch::Operation begun;
  std::deque<Watch::Operation> under_way; ///< by the numbers of events
  bool timed = false;
  double seconds = 0;
};

/// What make_comm() watches.
std::unique_ptr<Comm> make_unwatched_comm(Transport transport);

} // namespace ffrt

#endif // FFRT_COMM_WATCHED_COMM_H
