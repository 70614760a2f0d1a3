//===- StepTimer.cpp - time of a step while its strategy is edited --------===//

#include "ffc/Plan/StepTimer.h"

#include "Step/EarlyStart.h"

#include <algorithm>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

StepTimer::StepTimer(SegmentTable &table, const std::vector<ConfigId> &configs)
    : table(table), graph(table.graph()), devices(table.numDevices()),
      queues(table.cost().overlaps() ? 2 * devices : devices),
      end(static_cast<OpId>(graph.ops.size())), order(table.order()),
      operators(order.operators()), segments(end), items(end + 1),
      starts(size_t(end) + 1), early(graph.values.size()),
      mayWait(size_t(end) + 1), rows((size_t(end) + 2) * queues),
      offsets(size_t(end) + 2),
      ends(queues > devices ? graph.values.size() * devices : 0),
      leads(graph.values.size(), -1), busy(devices), isDirty(size_t(end) + 1),
      isTouched(graph.values.size()), now(queues),
      startedAt(graph.values.size(), -1) {
  items[end].resize(order.numIndices(end));
  restart(configs);
}

/// Looks up what a step does. False, with not all of it looked up, as
/// addBusy().
bool StepTimer::lookUpAll(Picoseconds limit) {
  newBusy.assign(devices, 0);
  std::fill(early.begin(), early.end(), Early());
  for (Starts &started : starts)
    started.clear();
  for (OpId op = 0; op < end; ++op)
    if (!build(op, limit))
      return false;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (!follow(static_cast<ValueId>(v), limit))
      return false;
  planStarts();
  return true;
}

Picoseconds StepTimer::restart(const std::vector<ConfigId> &configs,
                               Picoseconds limit) {
  configurations = configs;
  // There is nothing to go back to.
  std::fill(isDirty.begin(), isDirty.end(), true);
  startSweep();
  proposed = lookUpAll(limit) ? sweepAll(limit) : kNoLimit;
  std::fill(isDirty.begin(), isDirty.end(), false);
  accept();
  return current;
}

/// False if a device is then busy for longer than `limit`.
bool StepTimer::addBusy(const TimedTasks &tasks, Picoseconds limit) {
  bool fits = true;
  tasks.eachPart([&](const TimedTasks::Part &part) {
    fits &= (newBusy[part.device] += part.duration) <= limit;
  });
  return fits;
}

void StepTimer::forgetBusy(const TimedTasks *tasks) {
  if (tasks)
    tasks->eachPart([&](const TimedTasks::Part &part) {
      newBusy[part.device] -= part.duration;
    });
}

/// The operator's own tasks; its reads follow. False as addBusy().
bool StepTimer::build(OpId op, Picoseconds limit) {
  const OpSegment &segment = table.op(op, configurations[op]);
  segments[op] = &segment;
  bool fits = true;
  Items &own = items[op];
  // Outputs at the end of a micro-batch are of other operators.
  const auto kept = static_cast<size_t>(order.numIndices(op));
  Items last(kept);
  if (!own.empty())
    std::copy(own.end() - static_cast<std::ptrdiff_t>(kept), own.end(),
              last.begin());
  own.clear();
  for (const OpSegment::Step &step : segment.steps) {
    own.emplace_back();
    if (step.slot >= 0)
      continue;
    own.back().tasks = &step.tasks;
    fits &= addBusy(step.tasks, limit);
  }
  own.insert(own.end(), last.begin(), last.end());
  return fits;
}

/// Where among the items of its row an entry stands that has an index.
size_t StepTimer::itemOf(const StepEntry &entry) const {
  const size_t steps = entry.row < end ? segments[entry.row]->steps.size() : 0;
  return steps + static_cast<size_t>(entry.index);
}

void StepTimer::markDirty(OpId op) {
  const int place = operators.placeOf(op);
  if (isDirty[place])
    return;
  isDirty[place] = true;
  dirty.push_back(place);
  if (op < end)
    undo.push_back(
        {op, configurations[op], segments[op], items[op], starts[op]});
  else
    undo.push_back({op, -1, nullptr, items[op], starts[op]});
}

void StepTimer::setItem(OpId op, size_t index, Item item) {
  if (item.tasks && item.tasks->empty())
    item.tasks = nullptr;
  if (items[op][index] == item)
    return;
  markDirty(op);
  items[op][index] = item;
  mayWait[op] |= item.wait != nullptr;
}

/// Takes the reshards of a value, as they are, out of what devices do.
void StepTimer::forgetReshards(ValueId id) {
  for (const StepEntry &entry : order.of(id)) {
    switch (entry.kind) {
    case StepEntry::Kind::Read: {
      const auto &steps = segments[entry.row]->steps;
      for (size_t s = 0; s < steps.size(); ++s)
        if (steps[s].slot >= 0 &&
            graph.slotValue(entry.row, steps[s].slot) == id)
          forgetBusy(items[entry.row][s].tasks);
      break;
    }
    case StepEntry::Kind::Complete:
    case StepEntry::Kind::Accumulate:
    case StepEntry::Kind::Output:
    case StepEntry::Kind::Store:
      if (entry.index >= 0)
        forgetBusy(items[entry.row][itemOf(entry)].tasks);
      break;
    default:
      break; // they take no time of a device's
    }
  }
}

/// Looks up the reshards of a value from its producer to its last reader, after
/// forgetReshards(). False, with not all of them looked up, if a device is busy
/// for longer than `limit`.
bool StepTimer::follow(ValueId id, Picoseconds limit) {
  if (graph.isLoaded(id))
    return true;
  const Value &value = graph.value(id);
  LayoutId layout =
      value.kind == ValueKind::State
          ? table.home(
                value.state,
                configurations[graph.value(graph.states[value.state].written)
                                   .producer])
          : segments[value.producer]->results[value.result];
  const LayoutId produced = layout;
  bool starts = false;
  Early start = early[id];
  start.segment = nullptr;
  auto set = [&](OpId row, size_t index, Item item, const TimedTasks &tasks) {
    item.tasks = &tasks;
    setItem(row, index, item);
    return addBusy(tasks, limit);
  };
  auto get = [&](OpId row, size_t index, NeedId need) {
    Item item;
    if (starts) {
      const StartSegment &begin = table.start(layout, need);
      if (begin.shape >= 0)
        start.segment = &begin;
      start.reader = row;
      start.item = index;
      setEarly(id, start);
      setWait(item, id);
      layout = begin.after;
      starts = false;
    }
    const ReshardSegment &reshard = table.reshard(layout, need);
    layout = reshard.after;
    return set(row, index, item, reshard.tasks);
  };
  auto read = [&](OpId op) {
    const auto &steps = segments[op]->steps;
    for (size_t s = 0; s < steps.size(); ++s)
      if (steps[s].slot >= 0 && graph.slotValue(op, steps[s].slot) == id &&
          !get(op, s, steps[s].need))
        return false;
    return true;
  };
  auto output = [&](const StepEntry &entry) {
    setItem(entry.row, itemOf(entry), {});
    const NeedId need = table.outputNeed(layout);
    return need < 0 || get(entry.row, itemOf(entry), need);
  };
  auto store = [&](const StepEntry &entry) {
    if (entry.index < 0)
      return true;
    const ReshardSegment &store = table.store(
        layout, table.home(entry.state, configurations[value.producer]));
    layout = store.after;
    return set(entry.row, itemOf(entry), {}, store.tasks);
  };
  for (const StepEntry &entry : order.of(id)) {
    bool fits = true;
    switch (entry.kind) {
    case StepEntry::Kind::Start:
      starts = startsEarly(value, table.isPartial(layout));
      break;
    case StepEntry::Kind::Complete:
      fits = get(entry.row, itemOf(entry), table.lossNeed(layout));
      break;
    case StepEntry::Kind::Accumulate:
      fits = set(entry.row, itemOf(entry), {}, table.accumulation(layout));
      break;
    case StepEntry::Kind::Mean:
      layout = produced; // which the mean is in
      break;
    case StepEntry::Kind::Read:
      fits = read(entry.row);
      break;
    case StepEntry::Kind::Output:
      fits = output(entry);
      break;
    case StepEntry::Kind::Store:
      fits = store(entry);
      break;
    case StepEntry::Kind::Run:
    case StepEntry::Kind::EndMicroBatch:
    case StepEntry::Kind::Send:
    case StepEntry::Kind::Forget:
    case StepEntry::Kind::Fetch:
    case StepEntry::Kind::Reduce:
    case StepEntry::Kind::Add:
      break; // of no value, or of what is not timed here
    }
    if (!fits)
      return false;
  }
  if (!start.segment)
    setEarly(id, start);
  return true;
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
  using Batched = BatchedStarts<int32_t, ValueId>;
  Batched batched(order);
  Starts list;
  for (const StartPlace &place : order.starts()) {
    list.clear();
    auto offer = [&](ValueId value, auto join) {
      if (const StartSegment *segment = early[value].segment)
        join(segment->shape, segment->bytes, value,
             [&](const BatchBytes &bytes) {
               return table.isFull(segment->shape, bytes);
             });
    };
    batched.at(place, offer, [&](const Batched::Batch &batch) {
      Start one{nullptr, batch.members.back()};
      one.tasks = batch.members.size() == 1
                      ? &early[one.batch].segment->tasks
                      : &table.batch(batch.shape, batch.bytes);
      list.push_back(one);
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
    if (list != starts[place.op]) {
      markDirty(place.op);
      starts[place.op] = list;
    }
  }
}

/// Everything about the values that `op` touches may change with it.
void StepTimer::touch(OpId op) {
  auto add = [&](ValueId value) {
    if (value < 0 || isTouched[value])
      return;
    isTouched[value] = true;
    touched.push_back(value);
  };
  for (ValueId operand : graph.op(op).operands)
    add(operand);
  for (ValueId result : graph.op(op).results)
    add(result);
  for (ValueId result : graph.op(op).results)
    if (result >= 0)
      for (const StepEntry &entry : order.of(result))
        if (entry.kind == StepEntry::Kind::Store)
          add(graph.states[entry.state].read);
}

/// False if some device is busy for longer than `limit`, even if it never
/// waits; the proposal can then only be rejected. Told as soon as it is known,
/// since most of the time goes into reshards that were not met before.
bool StepTimer::change(const std::vector<Change> &changes, Picoseconds limit) {
  newBusy = busy;
  isEarlyChanged = false;
  for (auto [op, config] : changes) {
    if (configurations[op] == config)
      continue;
    markDirty(op);
    touch(op);
  }
  for (ValueId value : touched) {
    isTouched[value] = false;
    if (!graph.isLoaded(value))
      forgetReshards(value);
  }
  // What is left of an operator is its own.
  for (auto [op, config] : changes)
    if (configurations[op] != config)
      for (const OpSegment::Step &step : segments[op]->steps)
        if (step.slot < 0)
          forgetBusy(&step.tasks);
  bool fits = true;
  for (auto [op, config] : changes) {
    if (configurations[op] == config)
      continue;
    configurations[op] = config;
    fits = fits && build(op, limit);
  }
  for (ValueId value : touched)
    fits = fits && follow(value, limit);
  touched.clear();
  if (isEarlyChanged && fits)
    planStarts();
  return fits;
}
