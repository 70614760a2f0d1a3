//===- Planner.cpp - from a strategy to the tasks of every device ---------===//

#include "ffc/Plan/Planner.h"

#include "EarlyStart.h"
#include "OutputOffers.h"
#include "ProgramBuilder.h"
#include "ReshardWriter.h"
#include "SentMessages.h"
#include "ffc/Plan/Arena.h"
#include "ffc/Plan/SymmetricSection.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace ffc::plan;

namespace {

class Planner {
public:
  Planner(const Graph &graph, const Strategy &strategy, int numDevices,
          const CostModel &cost, const PipelineSchedule &schedule)
      : graph(graph), strategy(strategy), cost(cost), orders(graph),
        operatorOrder(graph, cost.overlaps()),
        inPlace(graph, orders, operatorOrder), build(graph, numDevices),
        order(StepOrder::of(graph, operatorOrder, inPlace, strategy, schedule)),
        values(graph.values.size()), pending(graph.values.size()),
        operators(
            graph, orders, build,
            [this](ValueId value) -> Placement & { return values[value]; },
            [this](Placement &where, const OperandRead &read) {
              ValueId value = this->graph.slotValue(read.op, read.slot);
              int &steps = stepsOf(read.first);
              if (value >= 0)
                steps += finishEarly(value);
              // Else something is made of what is there, whichever part it is.
              messages.finish(value,
                              where.holdsAll(read.needed) ? part : kAllParts);
              steps += provide(where, value, read.type, read.name, read.needed,
                               read.first.later(steps));
              probeIfComplete(value);
            },
            [this](ValueId value, const Need &part) -> BufferId {
              const StateId state = value < 0 ? -1 : inPlace.state(value);
              return state < 0
                         ? -1
                         : values[this->graph.states[state].read].find(part);
            }) {}

  Program run() {
    placeState();
    for (const StepEntry &entry : order.entries())
      plan(entry);
    messages.releaseAll();
    assignOffsets(graph, strategy, build.program.devices);
    return std::move(build.program);
  }

private:
  // state and inputs

  /// A state that is updated lives where its update writes it, in another step
  /// if not in this one.
  void placeState() {
    for (StateId s = 0; s < static_cast<StateId>(graph.states.size()); ++s) {
      const State &state = graph.states[s];
      for (const StatePart &part : state.kept)
        addState(s, part.device, part.region, part.order);
      if (state.written < 0)
        continue;
      OpId update = graph.value(state.written).producer;
      for (const Need &home : homeOf(graph, s, strategy[update]))
        addState(s, home.device, home.region, home.order);
    }
  }

  void addState(StateId s, DeviceId device, const Region &region,
                MemoryOrder order = MemoryOrder::RowMajor) {
    ValueId read = graph.states[s].read;
    if (values[read].find({device, region, order}) >= 0)
      return;
    BufferId buffer = newBuffer(device, read, graph.value(read).name, region,
                                order, Section::State);
    build.device(device).states.push_back({s, buffer});
    values[read].holdings.add({device, region, order, buffer});
  }

  /// A value that was not written where the state is that it is stored in is
  /// copied there, after all that reads the old one.
  void storeState(StateId s) {
    const State &state = graph.states[s];
    const Value &written = graph.value(state.written);
    Placement &where = values[state.written];
    auto isThere = [&](const Holding &home) {
      for (const Holding &holding : where.holdings)
        if (holding.device == home.device && holding.buffer == home.buffer)
          return true;
      return false;
    };
    std::vector<WholeCopy> copies;
    std::vector<Need> targets;
    for (const Holding &home : values[state.read].holdings)
      if (build.device(home.device).buffers[home.buffer].section ==
              Section::State &&
          !isThere(home)) {
        targets.push_back({home.device, home.region, home.order});
        copies.push_back({targets.back(), home.buffer});
      }
    provide(where, state.written, written.type, written.name, targets,
            {written.producer, 0, {state.written}});
    for (WholeCopy &copy : copies)
      copy.src = where.find(copy.part);
    copyWhole(build, copies, {}, {written.producer, 0, TaskId::Store{s}},
              state.name + " stored");
  }

  void load(ValueId value, const Need &target) {
    const Value &v = graph.value(value);
    if (v.kind == ValueKind::State)
      return addState(v.state, target.device, target.region, target.order);
    BufferId buffer = newBuffer(target.device, value, v.name, target.region,
                                target.order, Section::Arena);
    build.device(target.device).inputs.push_back({value, buffer});
    values[value].holdings.add(
        {target.device, target.region, target.order, buffer});
  }

  BufferId newBuffer(DeviceId device, ValueId value, const std::string &name,
                     const Region &region, MemoryOrder order, Section section) {
    const TensorType &type = graph.value(value).type;
    return build.addBuffer(device, value, name, type, region, order, section);
  }

  // the order of the step

  void plan(const StepEntry &entry) {
    switch (entry.kind) {
    case StepEntry::Kind::Run:
      return planTurn(order.turns()[entry.index]);
    case StepEntry::Kind::Complete:
      placeLoss(entry.row);
      return probeIfComplete(entry.value);
    case StepEntry::Kind::Accumulate:
      return accumulateValue(entry.row, entry.value);
    case StepEntry::Kind::Output:
      return probeAtEnd(entry.value);
    case StepEntry::Kind::EndMicroBatch:
      return endMicroBatch();
    case StepEntry::Kind::Send:
      return send(entry.value, order.turns()[entry.index]);
    case StepEntry::Kind::Forget:
      return forgetSent(entry.value);
    case StepEntry::Kind::Fetch:
      return fetch(entry.value, order.turns()[entry.index]);
    case StepEntry::Kind::Reduce:
      return reduce(entry.value, order.turns()[entry.index]);
    case StepEntry::Kind::Add:
      return addSum(entry.value, order.turns()[entry.index]);
    case StepEntry::Kind::Start:
      return startEarly(order.starts()[entry.index]);
    case StepEntry::Kind::Store:
      return storeState(entry.state);
    case StepEntry::Kind::Read:
    case StepEntry::Kind::Mean:
      break; // of values
    }
  }

  void accumulateValue(OpId op, ValueId value) {
    accumulated[value] =
        accumulate(build, values[value], value, graph.value(value).type,
                   graph.value(value).name + ".mean",
                   {op, 0, TaskId::AddMicroBatch{value}});
  }

  void endMicroBatch() {
    for (DeviceProgram &device : build.program.devices)
      device.microBatchActions = static_cast<int>(device.actions.size());
    for (auto &[value, means] : accumulated) {
      values[value] = std::move(means);
      probeIfComplete(value);
    }
    accumulated.clear();
  }

  // operators

  void planTurn(const Turn &turn) {
    forget(turn);
    if (turn.parts == 1)
      messages.releaseAll();
    else
      for (ValueId result : graph.op(turn.op).results)
        messages.release(result, turn.part - SentMessages::kUnreleased);
    part = turn.isLast() ? kAllParts : turn.part;
    operators.plan(turn, strategy[turn.op]);
    if (turn.isAgain)
      return;
    const std::vector<ValueId> &results = graph.op(turn.op).results;
    for (size_t r = 0; r < results.size(); ++r) {
      const ValueId result = results[r];
      // These are complete later.
      if (result < 0 || result == graph.loss || turn.hasOwnSum(r) ||
          graph.isAccumulated(result))
        continue;
      if (turn.parts > 1)
        outputs.offerPart(result, values[result],
                          writtenIn(graph, result, turn, strategy[turn.op]),
                          turn.isLast());
      if (turn.isLast())
        probeIfComplete(result);
    }
  }

  /// The sums of a value that a turn has made begin to get to their update.
  void reduce(ValueId id, const Turn &turn) { begin(id, sumOf(id, turn)); }

  /// They are there, and added to those of earlier turns.
  void addSum(ValueId id, const Turn &turn) {
    const Value &value = graph.value(id);
    const FirstRead read = sumOf(id, turn);
    int &steps = stepsOf(read.first);
    Placement &where = values[id];
    steps += finishEarly(id);
    steps += provide(where, id, value.type, value.name, read.needed,
                     read.first.later(steps));
    Placement &sum = sums[id];
    addOwnSum(build, sum, where, read.needed, read.first.later(steps++),
              value.name + " added up");
    where = {};
    if (!turn.isLast())
      return;
    where = std::move(sum);
    sums.erase(id);
    if (!graph.isAccumulated(id))
      probeIfComplete(id);
  }

  /// Where a turn's sums go; the reshard is a step of the turn.
  FirstRead sumOf(ValueId id, const Turn &turn) {
    const OpId update = order.updateOf(id);
    FirstRead read = firstRead(graph, orders, id, {update}, strategy[update]);
    read.first = {turn.op, 0, {id}};
    return read;
  }

  /// What is done again finds nothing of what was there.
  void forget(const Turn &turn) {
    if (turn.isAgain)
      for (ValueId result : graph.op(turn.op).results)
        if (result >= 0)
          forgetPart(result, turn);
  }

  /// Of a state that is sent again.
  void forgetSent(ValueId id) {
    finishEarly(id);
    values[id].holdings.removeIf([&](const Holding &holding) {
      return build.device(holding.device).buffers[holding.buffer].section !=
             Section::State;
    });
  }

  /// Begins to send a state to where a turn reads it.
  void fetch(ValueId id, const Turn &reader) {
    begin(id, firstRead(graph, orders, id, reader, strategy[reader.op]));
  }

  /// Begins the collectives that a read wants.
  void begin(ValueId id, const FirstRead &read) {
    const Value &value = graph.value(id);
    const std::optional<PlannedReshard> reshard = planEarly(
        build, cost, values[id], id, value.type, value.name, read.needed);
    if (!reshard)
      return;
    ReshardWriter(build, id, value.type, value.name,
                  read.first.later(stepsOf(read.first)), reshard->targets)
        .write(reshard->plan, values[id].holdings, values[id].groups,
               &pending[id]);
  }

  /// What a turn makes of a value, and what was made of that.
  void forgetPart(ValueId id, const Turn &turn) {
    finishEarly(id);
    messages.finish(id, turn.parts == 1 ? kAllParts : turn.part);
    Placement &where = values[id];
    const std::vector<Need> parts =
        writtenIn(graph, id, turn, strategy[turn.op]);
    auto isMade = [&](const Region &region) {
      return std::any_of(parts.begin(), parts.end(), [&](const Need &part) {
        return !part.region.intersect(region).empty();
      });
    };
    where.holdings.removeIf([&](const Holding &holding) {
      return holding.region.empty() || isMade(holding.region);
    });
    where.groups.erase(std::remove_if(where.groups.begin(), where.groups.end(),
                                      [&](const PartialGroup &group) {
                                        return isMade(Region(group.box));
                                      }),
                       where.groups.end());
  }

  /// The first reshard of a value, planned.
  struct Start {
    ValueId value;
    ReshardTask task; ///< its first step
    PlannedReshard reshard;
  };
  using Starts = BatchedStarts<BatchShape, BatchBytes, Start>;
  struct BatchRules {
    const BatchTimes times;
    bool isFull(const BatchBytes &bytes) const { return times.isFull(bytes); }
    static void add(BatchBytes &bytes, const BatchBytes &more) {
      for (size_t c = 0; c < bytes.size(); ++c)
        bytes[c] += more[c];
    }
  };

  void startEarly(const StartPlace &place) {
    auto offer = [&](ValueId id, auto join) {
      const Value &value = graph.value(id);
      if (!startsEarly(value, !values[id].groups.empty()))
        return;
      OpId reader = operatorOrder.firstReader(value);
      FirstRead read = firstRead(graph, orders, id, {reader}, strategy[reader]);
      std::optional<PlannedReshard> reshard = planEarly(
          build, cost, values[id], id, value.type, value.name, read.needed);
      if (!reshard)
        return;
      const BatchShape shape = shapeOf(reshard->plan, values[id], value.type);
      const BatchBytes bytes = bytesOf(reshard->plan);
      join(shape, bytes, Start{id, read.first, std::move(*reshard)},
           BatchRules{BatchTimes(shape, cost)});
    };
    starts.at(place, offer, [&](const Starts::Batch &batch) { start(batch); });
  }

  void start(const Starts::Batch &batch) {
    const bool isBatch = batch.members.size() > 1;
    const BatchTimes times(batch.shape, cost);
    if (isBatch)
      build.beginBatch();
    for (const Start &one : batch.members) {
      const Value &value = graph.value(one.value);
      ReshardPlan plan = one.reshard.plan;
      for (size_t c = 0; c < plan.collectives.size(); ++c) {
        CostModel::Choice choice = times.choose(c, batch.bytes[c]);
        plan.collectives[c].algorithm = choice.algorithm;
        plan.collectives[c].schedule = std::move(choice.schedule);
      }
      ReshardWriter(build, one.value, value.type, value.name, one.task,
                    one.reshard.targets)
          .write(plan, values[one.value].holdings, values[one.value].groups,
                 &pending[one.value]);
    }
    if (isBatch)
      build.endBatch();
  }

  /// Returns the number of steps that were started.
  int finishEarly(ValueId id) {
    int steps = 0;
    for (const TaskSink::Wait &wait : pending[id])
      steps = std::max(steps, wait.task.reshard.step);
    build.wait(pending[id], graph.value(id).name);
    pending[id].clear();
    return steps;
  }

  /// Sends what was made of a value to where a turn reads it, if nothing is
  /// left to do there but to wait.
  void send(ValueId id, const Turn &reader) {
    const Value &value = graph.value(id);
    const FirstRead read =
        firstRead(graph, orders, id, reader, strategy[reader.op]);
    int &steps = stepsOf(read.first);
    steps += provide(values[id], id, value.type, value.name,
                     sumsBeforeSending(values[id], read.needed),
                     read.first.later(steps));
    const PlannedReshard planned =
        planReshardTo(build, cost, values[id], id, value.type, value.name,
                      read.needed, planMessages);
    if (planned.targets.empty() ||
        !isMessages(planned.plan, values[id].holdings, planned.targets) ||
        messages.areReadBy(id, planned.plan, values[id].holdings))
      return;
    TaskSink::Waits waits;
    ReshardWriter(build, id, value.type, value.name, read.first.later(steps++),
                  planned.targets)
        .write(planned.plan, values[id].holdings, values[id].groups, &waits);
    std::set<std::pair<DeviceId, BufferId>> received;
    for (const Need &target : planned.targets)
      received.insert({target.device, values[id].find(target)});
    messages.add(id, reader.part, waits, std::move(received));
  }

  // reshards

  /// Makes every target a holding, and returns in how many steps.
  int provide(Placement &where, ValueId value, const TensorType &type,
              const std::string &name, const std::vector<Need> &needed,
              ReshardTask first) {
    if (value >= 0 && graph.isLoaded(value))
      for (const Need &target : needed)
        if (!target.region.empty() && where.find(target) < 0)
          load(value, target);
    return reshardTo(build, cost, where, value, type, name, needed, first);
  }

  /// The steps done so far of a reshard, which goes on in every turn of the
  /// operator that it belongs to.
  int &stepsOf(const ReshardTask &first) {
    const TaskNumbers task = numbersOf(first);
    return steps[{task.op, task.phase, task.point}];
  }

  // outputs

  void placeLoss(OpId op) {
    const Value &loss = graph.value(graph.loss);
    Placement &where = values[graph.loss];
    provide(where, graph.loss, loss.type, loss.name,
            lossNeeds(where, loss.type), {op, 0, {graph.loss}});
    for (const Holding &holding : where.holdings)
      build.device(holding.device).loss = holding.buffer;
  }

  /// Offers an output for dumping as soon as all of it is somewhere.
  void probeIfComplete(ValueId value) {
    if (value >= 0 && !accumulated.count(value) &&
        outputs.isComplete(value, values[value])) {
      messages.finish(value, kAllParts);
      outputs.offer(value, values[value]);
    }
  }

  /// Outputs that are still partial sums are completed where their first member
  /// is.
  void probeAtEnd(ValueId value) {
    Placement &where = values[value];
    const Value &v = graph.value(value);
    if (!where.probed)
      provide(where, value, v.type, v.name, outputNeeds(where),
              {v.producer, 0, {value}});
    // Others may read parts of it, or nothing.
    if (!where.probed && graph.isLoaded(value) &&
        !where.isComplete(v.type.shape))
      load(value, {0, Region(Box::whole(v.type.shape)), MemoryOrder::RowMajor});
    probeIfComplete(value);
  }

  const Graph &graph;
  const Strategy &strategy;
  const CostModel &cost;
  MemoryOrders orders;
  OperatorOrder operatorOrder;
  WrittenInPlace inPlace;
  ProgramBuilder build;
  StepOrder order;
  std::vector<Placement> values;
  /// Where what comes after the micro-batches finds values of theirs.
  std::map<ValueId, Placement> accumulated;
  /// Of values of which every turn makes sums of its own: those so far, added
  /// up where they are updated.
  std::map<ValueId, Placement> sums;
  std::vector<TaskSink::Waits> pending; ///< by value
  SentMessages messages{graph, build};
  OutputOffers outputs{graph, build};
  /// What of the values the current turn reads.
  static constexpr int kAllParts = SentMessages::kAllParts;
  int part = kAllParts;
  /// By operator, phase, and value or slot.
  std::map<std::tuple<OpId, int, int>, int> steps;
  Starts starts{order};
  OpPlanner operators;
};

} // namespace

Program ffc::plan::planProgram(const Graph &graph, const Strategy &strategy,
                               int numDevices, const CostModel &cost,
                               const PipelineSchedule &schedule) {
  return Planner(graph, strategy, numDevices, cost, schedule).run();
}

Program ffc::plan::planProgram(Target target, const Graph &graph,
                               const Strategy &strategy, int numDevices,
                               const CostModel &cost,
                               const PipelineSchedule &schedule) {
  Program program = planProgram(graph, strategy, numDevices, cost, schedule);
  if (target == Target::CUDA)
    assignSymmetricOffsets(graph, strategy, program);
  return program;
}
