//===- shm_node.h - waiting for other ranks of the node ---------*- C++ -*-===//
//
// A rank that waits for others spins on shared memory for a while, then yields
// its core to other processes, then sleeps on a futex. Whoever changes what
// others may wait for notifies them afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMM_SHM_NODE_H
#define FFRT_COMM_SHM_NODE_H

#include "comm/shm_segment.h"

#include <atomic>
#include <sched.h>
#include <vector>

namespace ffrt {

/// Work that goes on while a rank waits.
class Background {
public:
  virtual ~Background() = default;
  /// True when something moved.
  virtual bool advance() = 0;
  /// True while something is under way of which nobody notifies.
  virtual bool must_poll() const = 0;
};

class Node {
public:
  /// `members` are the world ranks of the node, ascending, `rank` one of them;
  /// all have the file.
  Node(SharedFile shared, const std::vector<int> &members, int rank);

  /// Ranks of the node, and this one's index among them.
  int size() const { return int(members.size()); }
  int me() const { return mine; }
  int world_rank(int i) const { return members[std::size_t(i)]; }
  /// Index of a world rank, -1 when it is on another node.
  int index_of(int world_rank) const;
  int process_of(int i) const { return waiters[i].process; }

  /// Why there is no shared memory; empty: it is there.
  const std::string &problem() const { return cause; }
  /// To be called when all ranks have one, before all else. Collective.
  void start();

  /// The next part of the segment, which every rank of the node must ask for
  /// in the same order.
  int64_t reserve(int64_t bytes);
  std::byte *map(int64_t offset, int64_t bytes) {
    return segment.map(offset, bytes);
  }

  /// Returns when ready() holds. It may only read shared memory that is changed
  /// before notify(this rank). Gives up, with the name of a rank, when that
  /// rank is no more; -1: ready.
  template <class F> int wait_until(F &&ready) {
    Backoff backoff;
    for (;;) {
      if (ready())
        return -1;
      if (background && background->advance()) {
        backoff = {};
      } else if (!back_off(backoff)) {
        // Nothing that changes from here on is missed.
        const uint32_t seen = prepare_to_sleep();
        const bool go_on = ready() || (background && background->advance());
        const bool notified = go_on || sleep(seen);
        finish_sleep();
        if (!notified && !ready())
          if (int dead = missing(); dead >= 0)
            return dead;
      }
    }
  }

  /// After a change of shared memory that rank `i` may wait for.
  void notify(int i) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (waiters[i].asleep.load(std::memory_order_relaxed))
      wake(i);
  }

  /// True for the first rank of the node that asks: it may print an error.
  bool first_to_fail() { return !head->failed.exchange(true); }

  /// True when ranks can copy from each other's memory.
  bool can_read_directly() const { return !head->unreadable.load(); }

  Background *background = nullptr;

private:
  /// A rank, as the others see it.
  struct alignas(128) Waiter {
    std::atomic<uint32_t> notifications, asleep;
    int process;
    uint64_t secret;
    const uint64_t *secret_at;
    cpu_set_t cores;
  };
  struct alignas(128) Head {
    std::atomic<bool> failed, unreadable;
    std::atomic<int> arrived;
  };

  /// How long a wait has lasted.
  struct Backoff {
    int rounds = 0;
    int64_t end = 0; ///< of the time to stay awake, in nanoseconds
  };
  /// Lets a little time pass; false when it is time to sleep.
  bool back_off(Backoff &backoff) {
    if (++backoff.rounds > spins)
      return yield_core(backoff);
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
    return true;
  }
  bool yield_core(Backoff &backoff);
  uint32_t prepare_to_sleep() {
    Waiter &me = waiters[mine];
    const uint32_t seen = me.notifications.load(std::memory_order_relaxed);
    me.asleep.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return seen;
  }
  void finish_sleep() {
    waiters[mine].asleep.store(0, std::memory_order_relaxed);
  }
  /// False after a long time without a notification.
  bool sleep(uint32_t seen);
  void wake(int i);
  /// The world rank of a process that has ended, or -1.
  int missing() const;
  bool can_read(int i) const;

  std::vector<int> members;
  int mine;
  Segment segment;
  std::string cause;
  Head *head = nullptr;
  Waiter *waiters = nullptr;
  int64_t used = 0;
  int spins = 0;
  uint64_t secret = 0;
};

} // namespace ffrt

#endif // FFRT_COMM_SHM_NODE_H
