//===- Segments.h - what a plan is made of, kept and timed ------*- C++ -*-===//
//
// A plan is a sequence of segments of two kinds: the kernels of an operator
// under a configuration, and the reshard of a value from the layout it has to
// parts that are needed. Neither depends on anything else, so a search meets
// the same few again and again. They are made by the planner's own code, which
// appends the actions that would be emitted; only their times are kept.
//
// Configurations, layouts, lists of needed parts and batches are numbered in
// the order in which they are first met. Numbers, and references to segments,
// stay valid as long as the table.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_SEGMENTS_H
#define FFC_PLAN_SEGMENTS_H

#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Plan/TimedTask.h"

#include <memory>
#include <utility>
#include <vector>

namespace ffc::plan {

class StepOrder;

using ConfigId = int32_t;
using LayoutId = int32_t; ///< which devices hold which parts of a value
using NeedId = int32_t;   ///< which parts of a value are needed where
using BatchId = int32_t;  ///< collectives that start as one

/// An operator under a configuration.
struct OpSegment {
  /// A read of a part of a value, or tasks of the operator's own.
  struct Step {
    int slot = -1; ///< the first one with the value read; -1: tasks
    NeedId need = -1;
    TimedTasks tasks;
  };
  std::vector<Step> steps; ///< in the order of the plan
  /// Numbers of the steps that read a slot, in their order: of slot s those
  /// from endOfReads[s - 1], or 0, to endOfReads[s], as far as there are any.
  std::vector<int32_t> reads, endOfReads;
  /// Calls f(number of the step) for each of these.
  template <class F> void eachRead(int slot, F &&f) const {
    if (static_cast<size_t>(slot) >= endOfReads.size())
      return;
    for (int32_t at = slot > 0 ? endOfReads[slot - 1] : 0;
         at < endOfReads[slot]; ++at)
      f(static_cast<size_t>(reads[at]));
  }
  /// What all tasks of its own take, from the first device that has some to the
  /// last.
  std::vector<Picoseconds> busy;
  DeviceId firstBusy = 0;
  /// Where its results are afterwards, by result; -1 for those nobody uses.
  std::vector<LayoutId> results;
};

/// An operator under a configuration that takes its samples in turns
/// (PipelineSchedule.h), if these differ only in where their parts lie: all
/// parts and layouts are those of the first turn.
struct TurnSegment {
  /// False: turns differ in more than that; all else is empty.
  bool isRegular = false;
  struct Step : OpSegment::Step {
    /// By how much what a turn reads lies behind what the turn before does.
    Shape shift;
  };
  /// Of the first turn, and of each that follows: sums have begun by then.
  std::vector<Step> first, later;
  struct Result {
    LayoutId layout = -1; ///< after the first turn; -1 if nobody uses it
    Shape shift;          ///< zeros: a sum over the turns
    /// After the last turn, of such a sum that goes on from turn to turn.
    LayoutId sum = -1;
  };
  std::vector<Result> results;
};

/// Bytes by device, each device once.
using DeviceBytes = std::vector<std::pair<DeviceId, int64_t>>;

/// What becomes of buffers. Those of a layout are numbered: its holdings, then
/// the members of its partial sums.
struct BufferUse {
  /// Numbers of the layout before: what is read or written.
  std::vector<int32_t> touched;
  /// By number of the layout after: that of the layout before whose buffer it
  /// is; -1: a new one.
  std::vector<int32_t> from;
  /// The most that new buffers and those for messages hold at once.
  DeviceBytes peak;
};

/// From one layout to another.
struct ReshardSegment {
  TimedTasks tasks; ///< none if everything was there
  LayoutId after = -1;
};

/// Of the sums that a turn has made, the parts that are kept.
struct OwnSumSegment {
  LayoutId after = -1; ///< they alone, in the order of the need
  TimedTasks tasks;    ///< their addition to those of earlier turns
};

/// The collectives with which a reshard begins.
struct StartSegment : ReshardSegment {
  BatchId batch = -1; ///< they alone; -1: none
};

/// A reshard that is an exchange of messages, nobody waiting for it. `after` is
/// the layout with what is received.
struct SendSegment : ReshardSegment {
  bool isThere = false; ///< false: it is no such reshard, all else is empty
  /// Numbers of the holdings that are sent, of those of them that are not
  /// copied before, and of those that are received.
  std::vector<int32_t> sent, sentInPlace, received;
  std::vector<DeviceId> receivers; ///< ascending
};

/// Not for several threads at once.
class SegmentTable {
public:
  /// All arguments must outlive the table.
  SegmentTable(const Graph &graph, int numDevices, const CostModel &cost);
  ~SegmentTable();

  const Graph &graph() const;
  int numDevices() const;
  const CostModel &cost() const;
  /// What a step does; the same for all configurations.
  const StepOrder &order() const;
  /// What a step does with a schedule, and what it does again.
  StepOrder order(const Strategy &strategy,
                  const PipelineSchedule &schedule) const;

  ConfigId intern(const Configuration &config);
  const Configuration &config(ConfigId id) const;
  /// What `op`, which has a leader (followingOf()), makes of the leader's
  /// configuration; with its copies shared (shareCopies()) if so wanted.
  ConfigId follow(OpId op, ConfigId leader, bool sharesCopies = false);

  /// `config` must be legal for `op`.
  const OpSegment &op(OpId op, ConfigId config);
  /// The turns of an operator, of which `turn` is one.
  const TurnSegment &turns(const Turn &turn, ConfigId config);
  const ReshardSegment &reshard(LayoutId layout, NeedId need);
  /// The collectives with which that begins, which may run beside kernels; the
  /// reshard goes on from the layout after them.
  const StartSegment &start(LayoutId layout, NeedId need);
  /// The messages that such a reshard is, if it is nothing else.
  const SendSegment &send(LayoutId layout, NeedId need);
  /// What is made of partial sums before they are sent (sumsBeforeSending());
  /// -1 if nothing.
  NeedId sumsBeforeSending(LayoutId layout, NeedId need);
  /// What is left of a layout that has all that is needed (addOwnSum()).
  const OwnSumSegment &ownSum(LayoutId layout, NeedId need);
  /// Starts as one.
  const TimedTasks &batch(BatchId id);
  /// Two of a shape as one.
  BatchId join(BatchId id, BatchId other);
  /// Those of equal shapes may start as one (docs/decisions/0019).
  int32_t batchShape(BatchId id) const;
  /// True if more bytes would save little latency.
  bool isFull(BatchId id) const;
  /// True if parts of the value are partial sums.
  bool isPartial(LayoutId layout) const;
  /// True if the operator that computes the value writes it over an operand, or
  /// into the state that it is stored in.
  bool isInPlace(ValueId value) const;
  /// True if what the operator reads through the slot, of a value laid out so,
  /// is of no use to others that read it (Segments/ReadsApart.h): the reshards
  /// for these are the same from `layout` as from what is there after this one.
  /// Not so of partial sums of which nothing is complete: that decides how
  /// others are made.
  bool isReadApart(OpId op, int slot, LayoutId layout) const;
  /// The layout of a state's value at the start of the step. The state is one
  /// that is updated, by an operator under `update`.
  LayoutId home(StateId state, ConfigId update);

  /// What the planner adds after the loss, and at the end of the step.
  NeedId lossNeed(LayoutId loss);
  /// -1 if nothing.
  NeedId outputNeed(LayoutId output);
  /// The copy of a value into the state it is stored in, which lives in `home`.
  const ReshardSegment &store(LayoutId written, LayoutId home);

  /// The same of what has been made; null for all else.
  const OpSegment *findOp(OpId op, ConfigId config) const;
  const ReshardSegment *findReshard(LayoutId layout, NeedId need) const;
  const StartSegment *findStart(LayoutId layout, NeedId need) const;
  const ReshardSegment *findStore(LayoutId written, LayoutId home) const;

  /// The addition of a value to those of earlier micro-batches.
  const TimedTasks &accumulation(LayoutId layout);

  /// How many were made so far.
  size_t numSegments() const;

  /// A buffer, or what one would take.
  struct Part {
    DeviceId device = -1;
    int64_t bytes = 0; ///< rounded up to the alignment of buffers
    bool operator==(const Part &o) const {
      return device == o.device && bytes == o.bytes;
    }
  };
  /// The buffers of a layout, by number (BufferUse).
  const std::vector<Part> &parts(LayoutId layout);
  const std::vector<Part> &parts(NeedId need, const TensorType &type);
  /// What reshard(), send(), the collectives of start() and store() do to
  /// buffers. Made when asked for, since few plans are judged by their memory.
  const BufferUse &reshardUse(LayoutId layout, NeedId need);
  const BufferUse &startUse(LayoutId layout, NeedId need);
  const BufferUse &sendUse(LayoutId layout, NeedId need);
  const BufferUse &storeUse(LayoutId written, LayoutId home);
  /// What tells the parts of a need, which are in the same order, from all
  /// others of its value.
  const std::vector<int64_t> &codes(NeedId need) const;
  /// The numbers, in a layout that has them all, of the parts of a need.
  const std::vector<int32_t> &find(LayoutId layout, NeedId need);

private:
  struct Tables;
  std::unique_ptr<Tables> tables;
};

} // namespace ffc::plan

#endif // FFC_PLAN_SEGMENTS_H
