//===- shm_node.h - waiting for other ranks of the node ---------*- C++ -*-===//
//
// Every rank has a bell in shared memory. A rank that waits for others looks at
// memory for a while, then lets other processes run, then sleeps until its bell
// rings. Whoever changes what others may wait for rings their bells afterwards.
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
  /// True while something is under way that rings no bell.
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
  int process_of(int i) const { return bells[i].process; }

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
  /// before ring(this rank). Gives up, with the name of a rank, when that rank
  /// is no more; -1: ready.
  template <class F> int wait_until(F &&ready) {
    Patience patience;
    for (;;) {
      if (ready())
        return -1;
      if (background && background->advance()) {
        patience = {};
      } else if (!pass_time(patience)) {
        // Nothing that changes from here on is missed.
        const uint32_t rings = lie_down();
        const bool go_on = ready() || (background && background->advance());
        const bool rung = go_on || sleep(rings);
        get_up();
        if (!rung && !ready())
          if (int dead = missing(); dead >= 0)
            return dead;
      }
    }
  }

  /// After a change of shared memory that rank `i` may wait for.
  void ring(int i) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (bells[i].asleep.load(std::memory_order_relaxed))
      wake(i);
  }

  /// True for the first rank of the node that asks: it may print an error.
  bool first_to_fail() { return !head->failed.exchange(true); }

  /// True when ranks can copy from each other's memory.
  bool can_read_directly() const { return !head->unreadable.load(); }

  Background *background = nullptr;

private:
  struct alignas(128) Bell {
    std::atomic<uint32_t> rings, asleep;
    int process;
    uint64_t secret;
    const uint64_t *secret_at;
    cpu_set_t cores;
  };
  struct alignas(128) Head {
    std::atomic<bool> failed, unreadable;
    std::atomic<int> arrived;
  };

  struct Patience {
    int rounds = 0;
    int64_t end = 0; ///< of the time to stay awake, in nanoseconds
  };
  /// Lets a little time pass; false when it is time to sleep.
  bool pass_time(Patience &patience) {
    if (++patience.rounds > spins)
      return let_others_run(patience);
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
    return true;
  }
  bool let_others_run(Patience &patience);
  uint32_t lie_down() {
    Bell &bell = bells[mine];
    const uint32_t rings = bell.rings.load(std::memory_order_relaxed);
    bell.asleep.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return rings;
  }
  void get_up() { bells[mine].asleep.store(0, std::memory_order_relaxed); }
  /// False after a long time without a ring.
  bool sleep(uint32_t rings);
  void wake(int i);
  /// The world rank of a process that has ended, or -1.
  int missing() const;
  bool can_read(int i) const;

  std::vector<int> members;
  int mine;
  Segment segment;
  std::string cause;
  Head *head = nullptr;
  Bell *bells = nullptr;
  int64_t used = 0;
  int spins = 0;
  uint64_t secret = 0;
};

} // namespace ffrt

#endif // FFRT_COMM_SHM_NODE_H
