//===- StepLookup.cpp - what is done in a step after a change -------------===//

#include "ffc/Plan/StepTimer.h"

#include "StartBatches.h"

#include <algorithm>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// What devices are busy with
//===----------------------------------------------------------------------===//

/// False if a device is then busy for longer than `limit`.
bool StepTimer::addBusy(const TimedTasks &tasks, Picoseconds limit) {
  bool fits = true;
  tasks.eachPart([&](const TimedTasks::Part &part) {
    fits &= (newBusy[part.device] += part.duration) <= limit;
  });
  return fits;
}

void StepTimer::forgetBusy(const TimedTasks &tasks) {
  tasks.eachPart([&](const TimedTasks::Part &part) {
    newBusy[part.device] -= part.duration;
  });
}

/// The operator does this from now on. False as addBusy().
bool StepTimer::setSegment(OpId op, const OpSegment &segment,
                           Picoseconds limit) {
  segments[op] = &segment;
  Picoseconds *own = newBusy.data() + segment.firstBusy;
  Picoseconds left = 0; // negative if one of them is
  for (size_t d = 0; d < segment.busy.size(); ++d)
    left |= limit - (own[d] += segment.busy[d]);
  return left >= 0;
}

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

/// Looks up the reshards of a value from its producer to its last reader.
class StepTimer::Follower {
public:
  Follower(StepTimer &timer, ValueId id, bool makes, Picoseconds limit)
      : timer(timer), table(timer.table), id(id), value(timer.graph.value(id)),
        makes(makes), limit(limit),
        layout(value.kind == ValueKind::State
                   ? table.home(value.state, configOf(timer.graph.value(
                                                 stateOf(value).written)))
                   : timer.segments[value.producer]->results[value.result]),
        produced(layout), start(timer.early[id]) {
    start.segment = nullptr;
  }

  LookedUp run() {
    for (const StepEntry &entry : timer.order.of(id))
      if (const LookedUp found = look(entry); found != LookedUp::All)
        return found;
    if (!start.segment)
      timer.setEarly(id, start);
    return LookedUp::All;
  }

private:
  const State &stateOf(const Value &of) const {
    return timer.graph.states[of.state];
  }
  ConfigId configOf(const Value &of) const {
    return timer.configurations[of.producer];
  }

  LookedUp look(const StepEntry &entry) {
    switch (entry.kind) {
    case StepEntry::Kind::Start:
      starts = startsEarly(value, table.isPartial(layout));
      break;
    case StepEntry::Kind::Complete:
      return get(entry.row, timer.itemOf(entry), table.lossNeed(layout));
    case StepEntry::Kind::Accumulate:
      return set(entry.row, timer.itemOf(entry), {},
                 table.accumulation(layout));
    case StepEntry::Kind::Mean:
      layout = produced; // which the mean is in
      break;
    case StepEntry::Kind::Read:
      return read(entry.row, entry.index);
    case StepEntry::Kind::Output:
      return output(entry);
    case StepEntry::Kind::Store:
      return store(entry);
    case StepEntry::Kind::Run:
    case StepEntry::Kind::EndMicroBatch:
    case StepEntry::Kind::Send:
    case StepEntry::Kind::Forget:
    case StepEntry::Kind::Fetch:
    case StepEntry::Kind::Reduce:
    case StepEntry::Kind::Add:
      break; // of no value, or of what is not timed here
    }
    return LookedUp::All;
  }

  LookedUp read(OpId op, int slot) {
    const OpSegment &segment = *timer.segments[op];
    const LayoutId before = layout;
    const bool isApart = !starts && table.isReadApart(op, slot, layout);
    LookedUp found = LookedUp::All;
    segment.eachRead(slot, [&](size_t s) {
      if (found == LookedUp::All)
        found = get(op, s, segment.steps[s].need);
    });
    if (isApart && found == LookedUp::All)
      layout = before;
    return found;
  }

  LookedUp output(const StepEntry &entry) {
    const size_t index = timer.itemOf(entry);
    timer.sets.push_back({entry.row, index, {}});
    const NeedId need = table.outputNeed(layout);
    return need < 0 ? LookedUp::All : get(entry.row, index, need);
  }

  LookedUp store(const StepEntry &entry) {
    if (entry.index < 0)
      return LookedUp::All;
    const LayoutId home = table.home(entry.state, configOf(value));
    const ReshardSegment *known =
        makes ? &table.store(layout, home) : table.findStore(layout, home);
    if (!known)
      return LookedUp::NotMade;
    layout = known->after;
    return set(entry.row, timer.itemOf(entry), {}, known->tasks);
  }

  LookedUp get(OpId row, size_t index, NeedId need) {
    Item item;
    if (starts) {
      const StartSegment *begin =
          makes ? &table.start(layout, need) : table.findStart(layout, need);
      if (!begin)
        return LookedUp::NotMade;
      if (begin->batch >= 0)
        start.segment = begin;
      start.reader = row;
      start.item = index;
      timer.setEarly(id, start);
      timer.setWait(item, id);
      layout = begin->after;
      starts = false;
    }
    const ReshardSegment *known =
        makes ? &table.reshard(layout, need) : table.findReshard(layout, need);
    if (!known)
      return LookedUp::NotMade;
    layout = known->after;
    return set(row, index, item, known->tasks);
  }

  LookedUp set(OpId row, size_t index, Item item, const TimedTasks &tasks) {
    const bool isThere = !tasks.empty();
    if (isThere)
      item.tasks = &tasks;
    timer.sets.push_back({row, index, item});
    if (!isThere)
      return LookedUp::All;
    timer.newReshards.push_back(&tasks);
    return timer.addBusy(tasks, limit) ? LookedUp::All : LookedUp::TooLong;
  }

  StepTimer &timer;
  SegmentTable &table;
  const ValueId id;
  const Value &value;
  const bool makes;
  const Picoseconds limit;
  LayoutId layout; ///< at the entry that is looked at
  const LayoutId produced;
  bool starts = false; ///< does the next reshard start early?
  Early start;
};

/// Where something is not made yet and `makes` says that it is not to be, it is
/// as if the value had not been looked at.
StepTimer::LookedUp StepTimer::follow(ValueId id, bool makes,
                                      Picoseconds limit) {
  const size_t firstSet = sets.size(), first = newReshards.size();
  const LookedUp found = Follower(*this, id, makes, limit).run();
  if (found == LookedUp::NotMade) {
    for (size_t r = first; r < newReshards.size(); ++r)
      forgetBusy(*newReshards[r]);
    sets.resize(firstSet);
    newReshards.resize(first);
  } else {
    followed.push_back({id, first, newReshards.size()});
  }
  return found;
}

/// Where among the items of its row an entry stands that has an index.
size_t StepTimer::itemOf(const StepEntry &entry) const {
  const size_t steps = entry.row < end ? segments[entry.row]->steps.size() : 0;
  return steps + static_cast<size_t>(entry.index);
}

//===----------------------------------------------------------------------===//
// Early starts
//===----------------------------------------------------------------------===//

void StepTimer::setEarly(ValueId value, const Early &to) {
  Early &own = early[value];
  if (own.segment == to.segment && own.reader == to.reader &&
      own.item == to.item && own.start == to.start && own.after == to.after)
    return;
  isEarlyChanged |= own.segment != to.segment;
  undoEarly.push_back({value, own});
  own = to;
}

void StepTimer::setWait(Item &item, ValueId value) const {
  const Early &own = early[value];
  if (!own.segment)
    return;
  item.wait = own.start.tasks;
  item.value = value;
  item.batch = own.start.batch;
  item.after = own.after;
}

/// Batches, and who waits for them.
void StepTimer::planStarts() {
  isEarlyChanged = false;
  batches->clear();
  for (const StartPlace &place : order.starts()) {
    newStarts.clear();
    auto offer = [&](ValueId value, auto join) {
      if (const StartSegment *segment = early[value].segment)
        join(table.batchShape(segment->batch), segment->batch, value,
             SegmentBatchRules{table});
    };
    batches->at(place, offer, [&](const SegmentStarts::Batch &batch) {
      Start one{nullptr, batch.members.back()};
      one.tasks = batch.members.size() == 1 ? &early[one.batch].segment->tasks
                                            : &table.batch(batch.bytes);
      newStarts.push_back(one);
      for (ValueId value : batch.members) {
        Early to = early[value];
        to.start = one;
        to.after = operators.placeOf(place.op);
        setEarly(value, to);
        Item item = items[to.reader][to.item];
        setWait(item, value);
        setItem(to.reader, to.item, item);
      }
    });
    if (newStarts != starts[place.op]) {
      markDirty(place.op);
      starts[place.op] = newStarts;
    }
  }
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

/// Takes what the operators do, and the reshards of all that they touch, out of
/// what devices are busy with.
void StepTimer::forget(const std::vector<Change> &changes) {
  for (auto [op, config] : changes) {
    if (configurations[op] == config)
      continue;
    replaced.push_back({op, configurations[op], segments[op]});
    Picoseconds *own = newBusy.data() + segments[op]->firstBusy;
    for (size_t d = 0; d < segments[op]->busy.size(); ++d)
      own[d] -= segments[op]->busy[d];
    for (ValueId value : touchedBy[op]) {
      if (isTouched[value])
        continue;
      isTouched[value] = true;
      touched.push_back(value);
      for (const TimedTasks *tasks : reshards[value])
        forgetBusy(*tasks);
    }
  }
}

/// What was made before comes first, since most of a proposal's time goes into
/// what is not, and most proposals are known to be bad without it.
bool StepTimer::lookUp(const std::vector<Change> &changes, Picoseconds limit) {
  bool fits = true;
  for (auto [op, config] : changes)
    configurations[op] = config;
  for (const Replaced &old : replaced) {
    const OpSegment *known = table.findOp(old.op, configurations[old.op]);
    segments[old.op] = known;
    fits = fits && (!known || setSegment(old.op, *known, limit));
  }
  for (const Replaced &old : replaced)
    fits = fits && (segments[old.op] ||
                    setSegment(old.op, table.op(old.op, configurations[old.op]),
                               limit));
  notMade.clear();
  for (ValueId value : touched) {
    isTouched[value] = false;
    if (!fits)
      continue;
    const LookedUp found = follow(value, /*makes=*/false, limit);
    fits = found != LookedUp::TooLong;
    if (found == LookedUp::NotMade)
      notMade.push_back({graph.value(value).type.bytes(), value});
  }
  touched.clear();
  // The largest first, whose reshards mostly take longest: the fewest of them
  // are then made before it is known that there are too many.
  if (notMade.size() > 1)
    std::stable_sort(
        notMade.begin(), notMade.end(),
        [](const auto &a, const auto &b) { return a.first > b.first; });
  for (auto [bytes, value] : notMade)
    fits = fits && follow(value, /*makes=*/true, limit) == LookedUp::All;
  return fits;
}

/// As change(), with everything.
bool StepTimer::lookUpAll(Picoseconds limit) {
  newBusy.assign(devices, 0);
  std::fill(early.begin(), early.end(), Early());
  for (Starts &started : starts)
    started.clear();
  for (OpId op = 0; op < end; ++op)
    if (!setSegment(op, table.op(op, configurations[op]), limit))
      return false;
  for (OpId op = 0; op < end; ++op)
    buildRow(op);
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const auto value = static_cast<ValueId>(v);
    if (!graph.isLoaded(value) &&
        follow(value, /*makes=*/true, limit) != LookedUp::All)
      return false;
  }
  isEarlyChanged = true;
  apply();
  return true;
}
