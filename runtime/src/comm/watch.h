//===- watch.h - no wait without an end -------------------------*- C++ -*-===//
//
// A rank notes which operation it is in whenever it may have to wait for
// others, at the price of two atomic exchanges. A thread looks at the note now
// and then. When it has found the same for too long, it says who waits for whom
// and ends all ranks. A rank that computes is never late.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMM_WATCH_H
#define FFRT_COMM_WATCH_H

#include "ffrt/comm.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ffrt {

class Watch {
public:
  /// What a rank waits for.
  struct Operation {
    const char *task = "";
    const char *kind = nullptr; ///< null: the task says it
    /// Who takes part, in any order, this rank or not; empty: all.
    std::vector<int> ranks;
  };

  /// `rank` is what messages say until set_comm() is called.
  Watch(int rank, double deadline_seconds);
  ~Watch();
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

  double deadline() const { return seconds; }

  /// Who ends all ranks, and knows the number of this one. Without it this
  /// process ends, and the launcher ends the others.
  void set_comm(Comm &comm);
  /// To be called before it goes.
  void forget(Comm &comm);

  /// This rank is in an operation, for as long as the object lives; one within
  /// another hides it. Only in the thread that communicates.
  class Scope {
  public:
    /// `operation` outlives it, unchanged.
    Scope(Watch &watch, const Operation &operation)
        : watch(watch), outer(watch.enter(&operation)) {}
    ~Scope() { watch.enter(outer); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    Watch &watch;
    const Operation *outer;
  };

  /// Prints that the task has not ended in time, after `what` this rank does,
  /// lets ranks that are late as well say so, and ends all. In any thread.
  [[noreturn]] void end_late(const char *task, const std::string &what);

private:
  /// The operation before; null: none.
  const Operation *enter(const Operation *operation) {
    entered.store(entered.load(std::memory_order_relaxed) + 1,
                  std::memory_order_relaxed);
    const Operation *before =
        now.exchange(operation, std::memory_order_acq_rel);
    if (before == &kLate)
      rest();
    return before;
  }
  [[noreturn]] static void rest();
  void run();
  [[noreturn]] void end_late(const Operation &operation, double waited);

  /// In the place of an operation that is late: who is in it stays there.
  static const Operation kLate;

  const double seconds;
  std::atomic<const Operation *> now{nullptr};
  std::atomic<uint64_t> entered{0}; ///< operations, and ends of operations
  std::atomic<int> rank;
  std::atomic<Comm *> comm{nullptr};

  std::mutex ending; ///< taken by who ends the ranks, and kept
  std::mutex mutex;
  std::condition_variable stopped;
  bool stop = false;
  std::thread thread;
};

} // namespace ffrt

#endif // FFRT_COMM_WATCH_H
