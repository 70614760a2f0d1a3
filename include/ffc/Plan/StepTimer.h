//===- StepTimer.h - time of a step while its strategy is edited -*- C++
//-*-===//
//
// Delta timing: a proposal changes the configurations of some operators; what
// they touch is looked up again, put into the step if no device is then busy
// for too long, and the sweep goes on from the first operator that changed.
// Where nothing changes for a while and all queues, and all that is waited for
// meanwhile, are shifted by the same time, it jumps to the next change, since
// times are sums and maxima. The result equals timeProgram() of the whole plan,
// exactly.
//
// A step of several micro-batches (Graph::microBatches) goes on after them as
// if each took as long as the first.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_STEPTIMER_H
#define FFC_PLAN_STEPTIMER_H

#include "ffc/Plan/Segments.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ffc::plan {

class OperatorOrder;
struct StepEntry;

/// Longer than any step.
constexpr Picoseconds kNoLimit = INT64_MAX;

class StepTimer {
public:
  /// `table` must outlive the timer. `configs` has one legal configuration per
  /// operator.
  StepTimer(SegmentTable &table, const std::vector<ConfigId> &configs);
  ~StepTimer();

  /// Takes other configurations, of which everything is looked up and swept as
  /// without deltas. Returns the makespan, or some number over `limit` if it is
  /// over that; then only another restart may follow. There must be no open
  /// proposal.
  Picoseconds restart(const std::vector<ConfigId> &configs,
                      Picoseconds limit = kNoLimit);

  Picoseconds makespan() const { return current; }
  const std::vector<ConfigId> &configs() const { return configurations; }

  using Change = std::pair<OpId, ConfigId>;
  /// Makespan with `changes`, of distinct operators. If it is over `limit`,
  /// some number over `limit`. Must be followed by accept() or reject().
  Picoseconds propose(const std::vector<Change> &changes,
                      Picoseconds limit = kNoLimit);
  /// Keeps the proposal, whose makespan must not be over its limit.
  void accept();
  void reject();

private:
  /// What is done for an operator, in the order of the plan; nothing where a
  /// read finds everything in place. After the operators stands one more list,
  /// for the end of the step.
  struct Item {
    /// The end of collectives that started early, as one for `batch`, after
    /// what is done at place `after`; `value` is the one that is needed.
    const TimedTasks *wait = nullptr;
    ValueId value = -1, batch = -1;
    int after = -1;
    const TimedTasks *tasks = nullptr; ///< run after that
    bool operator==(const Item &o) const {
      return wait == o.wait && value == o.value && batch == o.batch &&
             after == o.after && tasks == o.tasks;
    }
  };
  using Items = std::vector<Item>;
  /// Collectives that go on beside what follows, and what they are known by:
  /// the last value of the batch.
  struct Start {
    const TimedTasks *tasks = nullptr;
    ValueId batch = -1;
    bool operator==(const Start &o) const {
      return tasks == o.tasks && batch == o.batch;
    }
  };
  using Starts = std::vector<Start>;
  /// A value whose first reshard may start early.
  struct Early {
    const StartSegment *segment = nullptr; ///< null: it does not
    OpId reader = -1;                      ///< and the item that waits
    size_t item = 0;
    Start start;    ///< the batch that it is in, and the place after which
    int after = -1; ///< that starts
  };
  /// What a row was before the proposal.
  struct Undo {
    OpId op;
    Items items;
    Starts starts;
  };
  struct Replaced {
    OpId op;
    ConfigId config;
    const OpSegment *segment;
  };
  /// Of a row, what a proposal looks up before it is known to be kept so long.
  struct Set {
    OpId op;
    size_t index;
    Item item;
  };
  /// The reshards of a value that a proposal looked up: a range of newReshards.
  struct Followed {
    ValueId value;
    size_t first, end;
  };
  enum class LookedUp {
    All,
    NotMade, ///< what comes next has to be made
    TooLong  ///< some device is busy for longer than the limit
  };
  class Follower;
  struct Batches;
  struct Shift { // of places
    int begin, end;
    Picoseconds by;
  };

  bool lookUpAll(Picoseconds limit);
  Picoseconds sweepAll(Picoseconds limit);
  bool change(const std::vector<Change> &changes, Picoseconds limit);
  void forget(const std::vector<Change> &changes);
  bool lookUp(const std::vector<Change> &changes, Picoseconds limit);
  bool setSegment(OpId op, const OpSegment &segment, Picoseconds limit);
  bool addBusy(const TimedTasks &tasks, Picoseconds limit);
  void forgetBusy(const TimedTasks &tasks);
  LookedUp follow(ValueId value, bool makes, Picoseconds limit);
  void apply();
  void buildRow(OpId op);
  void markDirty(OpId op);
  void setItem(OpId op, size_t index, const Item &item);
  void setEarly(ValueId value, const Early &early);
  void setWait(Item &item, ValueId value) const;
  void planStarts();
  OpId opAt(int place) const;
  void run(int place);
  void keepRow(int place);
  void startSweep();
  Picoseconds sweep(Picoseconds limit);
  Picoseconds shiftOf(int place) const;
  bool isShifted(const Item &wait, Picoseconds by);
  int endOfShift(int from, int to, Picoseconds by);
  std::optional<Picoseconds> lateness(int place) const;
  void forgetStarted();
  void endProposal();
  size_t itemOf(const StepEntry &entry) const;

  Picoseconds *row(int place) { return rows.data() + size_t(place) * queues; }
  const Picoseconds *row(int place) const {
    return rows.data() + size_t(place) * queues;
  }
  const Picoseconds *endsOf(ValueId value) const {
    return ends.data() + size_t(value) * devices;
  }
  QueueTimes timesAt(Picoseconds *times) const {
    return {times, times + (queues - devices)};
  }

  SegmentTable &table;
  const Graph &graph;
  size_t devices;
  size_t queues; ///< twice the devices if they overlap
  OpId end;      ///< number of operators
  std::vector<ConfigId> configurations;
  const StepOrder &order;
  const OperatorOrder &operators; ///< of the order
  std::vector<const OpSegment *> segments;
  /// By operator, and for the end of the step: what it does, and then the
  /// entries of its row in the order that have an index.
  std::vector<Items> items;
  /// After every operator.
  std::vector<Starts> starts;
  std::vector<Early> early; ///< by value
  /// By value, its reshards, as far as these take a device's time.
  std::vector<std::vector<const TimedTasks *>> reshards;
  /// By operator, the values of which everything may change with it.
  std::vector<std::vector<ValueId>> touchedBy;
  /// By operator: false if it never had to wait for what was started early.
  std::vector<char> mayWait;

  /// By place in the order of operators: times at which the queues are free
  /// before it, less `offsets`.
  std::vector<Picoseconds> rows, offsets;
  /// By batch: when what was started early ends on each device, less the offset
  /// of the row after the place that it started after.
  std::vector<Picoseconds> ends;
  /// By value: at least so long before its wait that had ended on all devices;
  /// negative if not.
  std::vector<Picoseconds> leads;
  /// By device: the time of all items, which run one after the other; without
  /// what starts early.
  std::vector<Picoseconds> busy;
  Picoseconds current = 0;

  // The proposal.
  std::vector<Replaced> replaced;
  std::vector<Set> sets;
  std::vector<const TimedTasks *> newReshards;
  std::vector<Followed> followed;
  std::vector<Undo> undo; ///< as many as `dirty`; others keep their memory
  std::vector<std::pair<ValueId, Early>> undoEarly;
  bool isEarlyChanged = false;
  std::vector<int> dirty; ///< places
  std::vector<char> isDirty;
  std::vector<ValueId> touched;
  std::vector<std::pair<int64_t, ValueId>> notMade; ///< with their bytes
  std::vector<char> isTouched;
  std::vector<std::pair<int, size_t>> newRows; ///< place, where in newTimes
  std::vector<Picoseconds> newTimes, now, newBusy;
  std::vector<std::pair<ValueId, Picoseconds>> newLeads;
  std::vector<Shift> shifts;
  /// What was started in this sweep, and by batch where in newEnds; -1: not.
  std::vector<ValueId> newlyStarted;
  std::vector<std::ptrdiff_t> startedAt;
  std::vector<Picoseconds> newEnds;
  Starts newStarts; ///< of the row that is looked at
  std::unique_ptr<Batches> batches;
  Picoseconds proposed = 0;
};

} // namespace ffc::plan

#endif // FFC_PLAN_STEPTIMER_H
