//===- schedule.h - collectives by messages of the program's own *- C++ -*-===//
//
// A schedule divides the tensor of a collective into chunks and says in which
// order they go from member to member. The plan has chosen it and proved that
// all members end with what the collective promises.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_SCHEDULE_H
#define FFRT_SCHEDULE_H

#include "ffrt/comm.h"
#include "ffrt/tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace ffrt {

class MessageFlow;

struct Schedule {
  /// The numbers are those of tables.h.
  enum class Kind : int64_t { all_reduce, all_gather, reduce_scatter };
  Kind kind = Kind::all_reduce;
  std::string algorithm;
  int members = 0;
  /// The tensor in memory order, in nearly equal parts; where members have
  /// blocks of it, those of a block are equally many.
  int chunks = 0;
  std::size_t reducing = 0; ///< so many transfers, the first ones, reduce
  struct Transfer {
    int chunk, src, dst; ///< members by their place in the group
    /// Transfers of one step do not wait for each other; those of a member
    /// ascend. All members number them alike, so that none waits in a step for
    /// what another sends in a later one.
    int step = 0;
  };
  std::vector<Transfer> transfers;

  /// From "KIND ALGORITHM MEMBERS CHUNKS REDUCING" and three numbers of each
  /// transfer. Throws an internal Error.
  static Schedule read(const char *text);
  /// The first element of a chunk, of `elements` in all.
  int64_t chunk_begin(int64_t elements, int chunk) const;
};

/// A rank's part of a collective by a schedule, ready to run any number of
/// times. What it allocates beside the operands it allocates when it is made:
/// room for the chunks that are to be reduced into others, and, of a
/// reduce-scatter, for those that are passed on.
class ScheduledCollective {
public:
  /// Operands as those of Comm's collective of that kind; `src` of an
  /// all-reduce is in place. `comm` only says for whom and how.
  ScheduledCollective(const Schedule &schedule, const Group &group,
                      const Comm &comm, Tensor src, Tensor dst, ReduceOp op);

  ~ScheduledCollective();

  /// Those that start as one, by a schedule and of a group, on the ranks that
  /// they were made for: a step of the schedule is one exchange for all, where
  /// exchanges are in order.
  static void run(Comm &comm, const char *task,
                  const std::vector<ScheduledCollective *> &all);

private:
  struct Move {
    Tensor into, from;
  };
  struct Exchange {
    int step; ///< of the schedule
    std::vector<Message> sends, receives;
    std::vector<Move> combines; ///< once all have arrived
  };
  class Builder;
  class StepBuilder;
  class FlowBuilder;

  /// The next exchange, if it is of a step up to that one.
  const Exchange *next_until(int step) const;

  ReduceOp op;
  std::vector<Move> before;          ///< copies
  std::vector<Exchange> exchanges;   ///< one after the other, or
  std::unique_ptr<MessageFlow> flow; ///< messages as soon as they can
  std::shared_ptr<void> room;
  std::size_t done = 0; ///< exchanges
  Exchange merged;      ///< of the first of several, what is in one exchange
};

} // namespace ffrt

#endif // FFRT_SCHEDULE_H
