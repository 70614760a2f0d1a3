//===- comm.h - communication between ranks ---------------------*- C++ -*-===//
//
// The transport-independent interface. All buffers are contiguous. Operations
// are asynchronous: they are queued on the rank's communication queue and give
// an event; `wait` returns when the operation's buffers may be reused and its
// results read. A backend may complete an operation before it returns (MPI on
// CPU does so for collectives). Every failure names the rank, the task and the
// cause and ends all ranks.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMM_H
#define FFRT_COMM_H

#include "ffrt/tensor.h"

#include <cstdlib>
#include <memory>
#include <vector>

namespace ffrt {

class ScheduledCollective;
class Watch;

enum class ReduceOp : int { sum = 0, max = 1 };

/// How the members of an all-reduce do it; those of a program are chosen by its
/// plan.
enum class CollectiveAlgorithm : int {
  library, ///< as the backend chooses
  /// Ranks that share memory: each reads what all have, at once. All members
  /// together have kOneShotBytes at most.
  one_shot,
  /// Ranks that share memory: each reduces its share from what all have, then
  /// reads the shares of the others.
  two_shot,
  schedule, ///< by messages of the program's own (schedule.h)
};
constexpr int64_t kOneShotBytes = 16 << 10;

/// One message of a grouped point-to-point exchange.
struct Message {
  int peer;      ///< world rank
  Tensor tensor; ///< whole buffer is sent or received, in memory order
};

/// A set of ranks that do collectives together. Created at start, in the same
/// order on all ranks.
struct Group {
  int id = -1;
  std::vector<int> members; ///< world ranks, ascending
};

/// Handle of a queued operation.
struct Event {
  int id = -1;
};

class Comm {
public:
  virtual ~Comm() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Collective over the whole world: every rank calls it, members or not.
  virtual Group make_group(const std::vector<int> &members) = 0;

  /// All messages of one exchange make progress together. `tag` is the same on
  /// both ends of a message; messages between two ranks within one exchange
  /// match in list order.
  virtual Event exchange(const char *task, int tag,
                         const std::vector<Message> &sends,
                         const std::vector<Message> &receives) = 0;
  /// In place. All members end with identical bits. Only what has a choice, of
  /// ranks that share memory, heeds `algorithm`.
  virtual Event
  all_reduce(const char *task, const Group &group, Tensor data, ReduceOp op,
             CollectiveAlgorithm algorithm = CollectiveAlgorithm::library) = 0;
  /// `part` of member i (in group order) becomes block i of `whole`, blocks
  /// being contiguous and equal in size.
  virtual Event all_gather(const char *task, const Group &group, Tensor part,
                           Tensor whole) = 0;
  /// The reverse with a reduction: block i of every member's `whole` is
  /// reduced into member i's `part`.
  virtual Event reduce_scatter(const char *task, const Group &group,
                               Tensor whole, Tensor part, ReduceOp op) = 0;
  /// `root` is an index into group.members.
  virtual Event broadcast(const char *task, const Group &group, int root,
                          Tensor data) = 0;
  /// The next `count` collectives, of one kind, group and type, come one after
  /// the other, all before a wait for any: a backend may start them as one,
  /// when it knows them all. All members of the group say so.
  virtual void start_together(int count) { (void)count; }
  /// Collectives by a schedule (schedule.h), which start as one. By exchanges,
  /// unless a backend has something better.
  virtual Event scheduled(const char *task,
                          const std::vector<ScheduledCollective *> &all);
  /// Does an exchange begin when the one before has ended? Then messages that
  /// wait for each other have to be in one exchange.
  virtual bool exchanges_in_order() const = 0;
  virtual void wait(Event event) = 0;
  /// Waits for one of several exchanges and gives its place. A backend that
  /// does not see which one happens first waits for the first in the list.
  virtual std::size_t wait_any(const std::vector<Event> &events) {
    wait(events.front());
    return 0;
  }
  virtual void barrier() = 0;
  /// Seconds that this rank has been in operations so far, starting them or
  /// waiting for their ends, while time_waits() was on. 0: nobody knows.
  virtual double waited() const { return 0; }
  virtual void time_waits(bool) {}
  /// What ends a wait for other ranks that has no end; null: nothing does.
  virtual std::shared_ptr<Watch> watch() const { return nullptr; }
  /// Prints the message with rank and task and ends all ranks.
  [[noreturn]] void fail(const char *task, const char *cause) {
    end_ranks(task, cause);
    std::abort();
  }
  /// Ends all ranks; this one has printed why.
  [[noreturn]] void end() {
    end_ranks(nullptr, nullptr);
    std::abort();
  }

protected:
  /// What fail() and end() do, which abort this rank if it returns. Without a
  /// cause nothing is printed.
  virtual void end_ranks(const char *task, const char *cause) = 0;
};

} // namespace ffrt

#endif // FFRT_COMM_H
