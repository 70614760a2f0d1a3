//===- StepWalk.cpp - the order of a step, by segments --------------------===//

#include "StepWalk.h"

#include "Step/SentMessages.h"

#include <algorithm>

using namespace ffc::plan;

static constexpr int kAllParts = SentMessages::kAllParts;

StepWalk::StepWalk(SegmentTable &table, const StepOrder &order,
                   const std::vector<ConfigId> &configs, Wants wants,
                   Sink &sink)
    : table(table), graph(table.graph()), order(order), configs(configs),
      wants(wants), sink(sink), values(graph.values.size()),
      known(graph.ops.size()), isOutput(graph.values.size()), starts(order) {
  for (const Output &output : graph.outputs)
    isOutput[output.value] = true;
  for (const Turn &turn : order.turns())
    isPlain &= turn.parts == 1 && !turn.isAgain;
}

bool StepWalk::run() {
  placeStates();
  for (const StepEntry &entry : order.entries()) {
    visit(entry);
    if (!isRegular)
      return false;
  }
  releaseAll();
  return true;
}

void StepWalk::placeStates() {
  for (StateId s = 0; s < static_cast<StateId>(graph.states.size()); ++s)
    if (const State &state = graph.states[s]; state.written >= 0) {
      values[state.read].layout =
          table.home(s, configs[graph.value(state.written).producer]);
      sink.home(state.read, values[state.read].layout);
    }
}

void StepWalk::visit(const StepEntry &entry) {
  switch (entry.kind) {
  case StepEntry::Kind::Run:
    return turn(order.turns()[entry.index]);
  case StepEntry::Kind::Complete: {
    LayoutId &layout = whole(entry.value);
    if (!isRegular)
      return;
    reshard({entry.value}, layout, table.lossNeed(layout));
    return offer(entry.value);
  }
  case StepEntry::Kind::Accumulate:
    means[entry.value] = whole(entry.value);
    if (!isRegular)
      return;
    sink.run(table.accumulation(means[entry.value]));
    return sink.accumulate(entry.value, means[entry.value]);
  case StepEntry::Kind::EndMicroBatch:
    sink.endMicroBatch();
    for (auto [value, layout] : means) {
      values[value].layout = layout;
      sink.beMean(value);
    }
    means.clear();
    for (ValueId id = 0; id < static_cast<ValueId>(values.size()); ++id)
      if (graph.isAccumulated(id))
        offer(id);
    return;
  case StepEntry::Kind::Output: {
    // What micro-batches have is complete.
    if (graph.isLoaded(entry.value) || !values[entry.value].parts.empty())
      return offer(entry.value);
    LayoutId &layout = whole(entry.value);
    if (const NeedId need = table.outputNeed(layout); need >= 0)
      reshard({entry.value}, layout, need);
    return offer(entry.value);
  }
  case StepEntry::Kind::Send:
    return send(entry.value, order.turns()[entry.index]);
  case StepEntry::Kind::Forget:
    return forgetSent(entry.value);
  case StepEntry::Kind::Fetch:
    return fetch(entry.value, order.turns()[entry.index]);
  case StepEntry::Kind::Reduce:
    return fetch(entry.value, {order.updateOf(entry.value)});
  case StepEntry::Kind::Add:
    return addSum(entry.value, order.turns()[entry.index]);
  case StepEntry::Kind::Start:
    return startEarly(order.starts()[entry.index]);
  case StepEntry::Kind::Store: {
    LayoutId &layout = whole(entry.value);
    if (!isRegular || entry.index < 0)
      return;
    const LayoutId home =
        table.home(entry.state, configs[graph.value(entry.value).producer]);
    const ReshardSegment &store = table.store(layout, home);
    sink.run(store.tasks);
    if (wants == Wants::Buffers)
      sink.move({entry.value}, store.after, table.storeUse(layout, home));
    layout = store.after;
    return;
  }
  case StepEntry::Kind::Read:
  case StepEntry::Kind::Mean:
    break; // of values
  }
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

LayoutId &StepWalk::whole(ValueId value) {
  Where &where = values[value];
  isRegular &= where.parts.empty();
  return where.layout;
}

/// What a turn of an operator reads of a value, if its turns lie `shift` apart.
ValuePart StepWalk::partOf(ValueId value, const Turn &reader,
                           const Shape *shift) {
  const Where &where = values[value];
  const bool isWhole =
      !shift || std::all_of(shift->begin(), shift->end(),
                            [](int64_t by) { return by == 0; });
  // What is loaded is wherever it is wanted.
  if (!graph.isLoaded(value))
    isRegular &= isWhole
                     ? where.parts.empty()
                     : static_cast<int>(where.parts.size()) == reader.parts &&
                           where.shift == *shift;
  return {value, isWhole ? 0 : reader.part};
}

LayoutId &StepWalk::layoutOf(ValuePart value) {
  Where &where = values[value.value];
  return where.parts.empty() ? where.layout : where.parts[value.part];
}

void StepWalk::reshard(ValuePart value, LayoutId &layout, NeedId need) {
  const ReshardSegment &segment = table.reshard(layout, need);
  if (segment.after == layout)
    return;
  sink.run(segment.tasks);
  if (wants == Wants::Buffers)
    sink.move(value, segment.after, table.reshardUse(layout, need));
  layout = segment.after;
}

/// Offers an output to be dumped once all of it is there.
void StepWalk::offer(ValueId value) {
  Where &where = values[value];
  if (!isOutput[value] || where.isOffered || means.count(value) ||
      graph.isLoaded(value))
    return;
  auto isThere = [&](LayoutId layout) {
    return layout >= 0 && !table.isPartial(layout);
  };
  if (where.parts.empty()
          ? !isThere(where.layout)
          : !std::all_of(where.parts.begin(), where.parts.end(), isThere))
    return;
  where.isOffered = true;
  finish(value, kAllParts);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

const TurnSegment *StepWalk::turnsOf(const Turn &turn) {
  const TurnSegment *&segment = known[turn.op];
  if (!segment)
    segment = &table.turns(turn, configs[turn.op]);
  isRegular &= segment->isRegular;
  return segment;
}

/// What a value's first read in a turn of an operator wants.
NeedId StepWalk::firstNeed(ValueId value, const Turn &reader) {
  auto find = [&](const auto &steps) -> NeedId {
    for (const OpSegment::Step &step : steps)
      if (step.slot >= 0 && graph.slotValue(reader.op, step.slot) == value)
        return step.need;
    return -1;
  };
  return reader.parts == 1 ? find(table.op(reader.op, configs[reader.op]).steps)
                           : find(turnsOf(reader)->first);
}

void StepWalk::turn(const Turn &turn) {
  forget(turn);
  sink.beginTurn(turn);
  if (turn.parts == 1) {
    releaseAll();
    const OpSegment &segment = table.op(turn.op, configs[turn.op]);
    for (const OpSegment::Step &step : segment.steps)
      work(turn, step, nullptr);
    const std::vector<ValueId> &results = graph.op(turn.op).results;
    for (size_t r = 0; r < results.size(); ++r)
      if (results[r] >= 0) {
        values[results[r]].layout = segment.results[r];
        sink.write(r, {results[r]}, segment.results[r], /*adds=*/false);
      }
    forgetApart();
  } else {
    for (ValueId result : graph.op(turn.op).results)
      release(result, turn.part - SentMessages::kUnreleased);
    const TurnSegment *segment = turnsOf(turn);
    for (const TurnSegment::Step &step :
         turn.isFirst() ? segment->first : segment->later)
      work(turn, step, &step.shift);
    if (isRegular)
      write(turn, *segment);
  }
  sink.endTurn();
  if (!turn.isLast() || turn.isAgain)
    return;
  const std::vector<ValueId> &results = graph.op(turn.op).results;
  for (size_t r = 0; r < results.size(); ++r)
    if (results[r] >= 0 && results[r] != graph.loss &&
        !graph.isAccumulated(results[r]) && !turn.hasOwnSum(r))
      offer(results[r]);
}

/// `shift` as in partOf().
void StepWalk::work(const Turn &turn, const OpSegment::Step &step,
                    const Shape *shift) {
  if (!isRegular)
    return;
  if (step.slot >= 0)
    return read(turn, step, shift);
  sink.run(step.tasks);
  sink.compute();
}

void StepWalk::read(const Turn &turn, const OpSegment::Step &step,
                    const Shape *shift) {
  const ValuePart from =
      partOf(graph.slotValue(turn.op, step.slot), turn, shift);
  if (!isRegular)
    return;
  finishEarly(from.value);
  if (graph.isLoaded(from.value))
    return sink.load(step, from);
  LayoutId &layout = layoutOf(from);
  if (isPlain && table.isReadApart(turn.op, step.slot, layout))
    apart.try_emplace(from.value, layout);
  // What is missing is made of what is there, whichever part that is.
  const bool isThere = table.reshard(layout, step.need).tasks.empty();
  finish(from.value, isThere && !turn.isLast() ? turn.part : kAllParts);
  reshard(from, layout, step.need);
  sink.read(step, from, layout);
  offer(from.value);
}

/// What was brought for this operator is of no use to others.
void StepWalk::forgetApart() {
  for (const auto &[value, before] : apart)
    if (values[value].layout != before) {
      values[value].layout = before;
      if (wants == Wants::Buffers)
        sink.forget(value, before);
    }
  apart.clear();
}

void StepWalk::write(const Turn &turn, const TurnSegment &segment) {
  const std::vector<ValueId> &results = graph.op(turn.op).results;
  for (size_t r = 0; r < results.size(); ++r) {
    if (results[r] < 0)
      continue;
    const TurnSegment::Result &result = segment.results[r];
    Where &where = values[results[r]];
    if (turn.hasOwnSum(r)) {
      where.layout = result.layout;
      sink.write(r, {results[r]}, where.layout, /*adds=*/false);
      continue;
    }
    if (result.sum >= 0) {
      where.layout = turn.isLast() ? result.sum : result.layout;
      sink.write(r, {results[r]}, where.layout, !turn.isFirst());
      continue;
    }
    where.shift = result.shift;
    where.parts.resize(turn.parts, -1);
    where.parts[turn.part] = result.layout;
    // Outputs are offered part by part.
    if (!turn.isAgain && !table.isPartial(result.layout))
      where.isOffered = turn.isLast();
    sink.write(r, {results[r], turn.part}, result.layout, /*adds=*/false);
  }
}

//===----------------------------------------------------------------------===//
// What is not kept
//===----------------------------------------------------------------------===//

/// What is done again finds nothing of what was there.
void StepWalk::forget(const Turn &turn) {
  if (turn.isAgain)
    for (ValueId result : graph.op(turn.op).results)
      if (result >= 0) {
        finishEarly(result);
        finish(result, turn.parts == 1 ? kAllParts : turn.part);
      }
}

void StepWalk::forgetSent(ValueId value) {
  Where &where = values[value];
  finishEarly(value);
  const StateId state = graph.value(value).state;
  where.layout = table.home(
      state, configs[graph.value(graph.states[state].written).producer]);
  sink.forget(value, where.layout);
}

/// Begins the collectives with which the reshard for a reader begins.
void StepWalk::fetch(ValueId value, const Turn &reader) {
  if (const StartSegment *segment = startOf(value, reader)) {
    begin(value, firstNeed(value, reader), *segment);
    sink.start(numStarted++, segment->tasks);
  }
}

//===----------------------------------------------------------------------===//
// Sums of turns
//===----------------------------------------------------------------------===//

void StepWalk::addSum(ValueId value, const Turn &turn) {
  finishEarly(value);
  const NeedId need = firstNeed(value, {order.updateOf(value)});
  LayoutId &layout = values[value].layout;
  reshard({value}, layout, need);
  const OwnSumSegment &sum = table.ownSum(layout, need);
  if (!turn.isFirst())
    sink.run(sum.tasks);
  if (wants == Wants::Buffers)
    sink.addSum(value, sum.after, table.find(layout, need), turn);
  layout = sum.after;
  if (turn.isLast() && !graph.isAccumulated(value))
    offer(value);
}

//===----------------------------------------------------------------------===//
// Communication that begins early
//===----------------------------------------------------------------------===//

/// The collectives with which the reshard of a value for a reader begins; null
/// if there are none.
const StartSegment *StepWalk::startOf(ValueId value, const Turn &reader) {
  const NeedId need = firstNeed(value, reader);
  if (need < 0)
    return nullptr;
  const StartSegment &segment = table.start(whole(value), need);
  return segment.batch < 0 ? nullptr : &segment;
}

/// Communication number `numStarted`.
void StepWalk::begin(ValueId value, NeedId need, const StartSegment &segment) {
  LayoutId &layout = values[value].layout;
  if (wants == Wants::Buffers) {
    const BufferUse &use = table.startUse(layout, need);
    sink.begin({value}, segment.after, use, use.touched, numStarted);
  }
  layout = segment.after;
  values[value].started.push_back(numStarted);
}

void StepWalk::startEarly(const StartPlace &place) {
  auto readerOf = [&](ValueId value) {
    return Turn{order.operators().firstReader(graph.value(value))};
  };
  auto offerTo = [&](ValueId id, auto join) {
    if (!startsEarly(graph.value(id), table.isPartial(whole(id))))
      return;
    if (const StartSegment *segment = startOf(id, readerOf(id)))
      join(table.batchShape(segment->batch), segment->batch, id,
           SegmentBatchRules{table});
  };
  starts.at(place, offerTo, [&](const SegmentStarts::Batch &batch) {
    const TimedTasks *tasks = nullptr;
    for (ValueId id : batch.members) {
      const StartSegment *segment = startOf(id, readerOf(id));
      tasks = &segment->tasks;
      begin(id, firstNeed(id, readerOf(id)), *segment);
    }
    if (batch.members.size() > 1)
      tasks = &table.batch(batch.bytes);
    sink.start(numStarted++, *tasks);
  });
}

void StepWalk::finishEarly(ValueId value) {
  for (int id : values[value].started) {
    sink.wait(id, Waiting::All, {});
    sink.end({value}, id, Waiting::All, {});
  }
  values[value].started.clear();
}

void StepWalk::send(ValueId value, const Turn &reader) {
  const NeedId need = firstNeed(value, reader);
  Where &where = values[value];
  if (need < 0 || !isRegular || where.parts.empty())
    return;
  LayoutId &layout = where.parts[reader.part];
  if (const NeedId sums = table.sumsBeforeSending(layout, need); sums >= 0)
    reshard({value, reader.part}, layout, sums);
  const SendSegment &segment = table.send(layout, need);
  if (!segment.isThere)
    return;
  // What has not come so far cannot be sent on.
  for (const Sent &sent : underWay[value])
    if (sent.part == reader.part)
      for (int32_t number : sent.received)
        if (std::find(segment.sent.begin(), segment.sent.end(), number) !=
            segment.sent.end())
          return;
  Sent sent{reader.part, numStarted, segment.received, segment.receivers};
  underWay[value].push_back(sent);
  unreleased[value].push_back(std::move(sent));
  if (wants == Wants::Buffers)
    sink.begin({value, reader.part}, segment.after, table.sendUse(layout, need),
               segment.sentInPlace, numStarted);
  sink.start(numStarted++, segment.tasks);
  layout = segment.after;
}

void StepWalk::releaseAll() {
  for (auto &[value, messages] : unreleased)
    release(value, kAllParts);
}

void StepWalk::wait(Messages &messages, ValueId value, int last) {
  auto it = messages.find(value);
  if (it == messages.end())
    return;
  const Waiting who =
      &messages == &underWay ? Waiting::Receivers : Waiting::Others;
  auto isOver = [&](const Sent &sent) {
    if (sent.part > last)
      return false;
    sink.wait(sent.id, who, sent.receivers);
    sink.end({value, sent.part}, sent.id, who, sent.receivers);
    return true;
  };
  it->second.erase(std::remove_if(it->second.begin(), it->second.end(), isOver),
                   it->second.end());
}
