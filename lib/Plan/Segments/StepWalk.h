//===- StepWalk.h - the order of a step, by segments ------------*- C++ -*-===//
//
// Internal to Plan: goes through the order of a step as the planner does, with
// layouts in place of buffers and segments in place of actions, and tells a
// sink what happens. Operators may take turns (PipelineSchedule.h): what a turn
// makes of a value has a layout of its own, which is that of the first turn, as
// if its part lay where the first one does. So layers and micro-batches that
// are alike share their segments, and a step costs little more than to go
// through it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_STEPWALK_H
#define FFC_LIB_PLAN_STEPWALK_H

#include "Order/StepOrder.h"
#include "StartBatches.h"
#include "ffc/Plan/Segments.h"

#include <map>
#include <utility>
#include <vector>

namespace ffc::plan {

/// A value, or what a turn makes of it.
struct ValuePart {
  ValueId value = -1;
  int part = 0;
};

class StepWalk {
public:
  /// Who waits for communication that has started.
  enum class Waiting { All, Receivers, Others };

  /// What happens, in the order of the step. Whoever only wants times has to
  /// do with the first methods, whoever only wants buffers with the others.
  class Sink {
  public:
    virtual ~Sink() = default;
    /// Tasks that all take part in wait for.
    virtual void run(const TimedTasks & /*tasks*/) {}
    /// Communication `id`, numbered from 0, begins; its tasks are collectives,
    /// or copies and an exchange.
    virtual void start(int /*id*/, const TimedTasks & /*tasks*/) {}
    virtual void wait(int /*id*/, Waiting /*who*/,
                      const std::vector<DeviceId> & /*receivers*/) {}
    virtual void endMicroBatch() {}

    /// A state that is updated lives so.
    virtual void home(ValueId /*state*/, LayoutId /*layout*/) {}
    virtual void beginTurn(const Turn & /*turn*/) {}
    /// The operator reads what is loaded.
    virtual void load(const OpSegment::Step & /*step*/, ValuePart /*from*/) {}
    /// The operator reads what is laid out so.
    virtual void read(const OpSegment::Step & /*step*/, ValuePart /*from*/,
                      LayoutId /*layout*/) {}
    /// The operator's own tasks, after what was read so far.
    virtual void compute() {}
    /// Result number `result` is laid out so; `adds`: a sum that goes on.
    virtual void write(size_t /*result*/, ValuePart /*to*/, LayoutId /*layout*/,
                       bool /*adds*/) {}
    virtual void endTurn() {}
    virtual void move(ValuePart /*value*/, LayoutId /*after*/,
                      const BufferUse & /*use*/) {}
    /// As move(), in communication `id`, which reads buffers with numbers
    /// `read` until it ends.
    virtual void begin(ValuePart /*value*/, LayoutId /*after*/,
                       const BufferUse & /*use*/,
                       const std::vector<int32_t> & /*read*/, int /*id*/) {}
    /// Communication `id` of the value has ended for `who`.
    virtual void end(ValuePart /*value*/, int /*id*/, Waiting /*who*/,
                     const std::vector<DeviceId> & /*receivers*/) {}
    /// Of the sum that a turn has made only the parts with the given numbers
    /// are left, `layout`: added to those of earlier turns, or in their place
    /// if it is the first one.
    virtual void addSum(ValueId /*value*/, LayoutId /*layout*/,
                        const std::vector<int32_t> & /*numbers*/,
                        const Turn & /*turn*/) {}
    /// Of a value only the buffers of `layout`, which are its first ones, are
    /// left: of a state its home, of others what all readers may use.
    virtual void forget(ValueId /*value*/, LayoutId /*layout*/) {}
    virtual void accumulate(ValueId /*value*/, LayoutId /*layout*/) {}
    /// From here on the value is the mean over the micro-batches.
    virtual void beMean(ValueId /*value*/) {}
  };
  /// Does it want to know what becomes of buffers?
  enum class Wants { Times, Buffers };

  /// Arguments must outlive it. `order` is that of a graph whose operators have
  /// `configs`.
  StepWalk(SegmentTable &table, const StepOrder &order,
           const std::vector<ConfigId> &configs, Wants wants, Sink &sink);

  /// False if turns of an operator differ in more than where their parts are:
  /// the sink has been told of a part of the step only.
  bool run();

private:
  /// Where a value is.
  struct Where {
    LayoutId layout = -1; ///< whole
    /// By turn, if its operator makes it part by part, and by how much each
    /// lies behind the one before.
    std::vector<LayoutId> parts;
    Shape shift;
    bool isOffered = false;   ///< an output, as soon as it is complete
    std::vector<int> started; ///< collectives that nobody has waited for
  };
  struct Sent {
    int part = 0, id = -1;         ///< part of the value
    std::vector<int32_t> received; ///< numbers of holdings
    std::vector<DeviceId> receivers;
  };

  void placeStates();
  void visit(const StepEntry &entry);
  void turn(const Turn &turn);
  void work(const Turn &turn, const OpSegment::Step &step, const Shape *shift);
  void read(const Turn &turn, const OpSegment::Step &step, const Shape *shift);
  void write(const Turn &turn, const TurnSegment &segment);
  void forgetApart();
  void forget(const Turn &turn);
  void forgetSent(ValueId value);
  void fetch(ValueId value, const Turn &reader);
  void send(ValueId value, const Turn &reader);
  void addSum(ValueId value, const Turn &turn);
  void startEarly(const StartPlace &place);
  const StartSegment *startOf(ValueId value, const Turn &reader);
  void begin(ValueId value, NeedId need, const StartSegment &segment);
  void reshard(ValuePart value, LayoutId &layout, NeedId need);
  LayoutId &whole(ValueId value);
  ValuePart partOf(ValueId value, const Turn &reader, const Shape *shift);
  LayoutId &layoutOf(ValuePart value);
  NeedId firstNeed(ValueId value, const Turn &reader);
  const TurnSegment *turnsOf(const Turn &turn);
  void finishEarly(ValueId value);
  void finish(ValueId value, int last) { wait(underWay, value, last); }
  void release(ValueId value, int last) { wait(unreleased, value, last); }
  void releaseAll();
  using Messages = std::map<ValueId, std::vector<Sent>>;
  void wait(Messages &messages, ValueId value, int last);
  void offer(ValueId value);

  SegmentTable &table;
  const Graph &graph;
  const StepOrder &order;
  const std::vector<ConfigId> &configs;
  const Wants wants;
  Sink &sink;
  std::vector<Where> values;
  std::map<ValueId, LayoutId> means; ///< of micro-batches, for what comes after
  std::vector<const TurnSegment *> known; ///< by operator
  std::vector<bool> isOutput;             ///< by value
  SegmentStarts starts;
  Messages underWay, unreleased;
  int numStarted = 0;
  bool isRegular = true;
  /// Does every operator take one turn, once?
  bool isPlain = true;
  /// Of what the operator reads apart from others, the layouts before.
  std::map<ValueId, LayoutId> apart;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_STEPWALK_H
