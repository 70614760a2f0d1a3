//===- StepTimer.cpp - time of a step while its strategy is edited --------===//

#include "ffc/Plan/StepTimer.h"

#include "OpPlanner.h"

#include <algorithm>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

StepTimer::StepTimer(SegmentTable &table, std::vector<ConfigId> configs)
    : table(table), graph(table.graph()), devices(table.numDevices()),
      queues(table.cost().overlaps() ? 2 * devices : devices),
      end(static_cast<OpId>(graph.ops.size())),
      configurations(std::move(configs)), segments(end), items(end + 1),
      readers(graph.values.size()), storedIn(graph.values.size()),
      startAfter(graph.values.size(), -1), outputItem(graph.values.size(), -1),
      storeItem(graph.states.size(), -1), rows((size_t(end) + 2) * queues),
      offsets(size_t(end) + 2),
      ends(queues > devices ? graph.values.size() * devices : 0),
      isDirty(size_t(end) + 1), isTouched(graph.values.size()), now(queues),
      startedAt(graph.values.size(), -1) {
  for (size_t v = 0; v < graph.values.size(); ++v) {
    for (Use use : graph.values[v].uses)
      readers[v].push_back(use.op);
    std::sort(readers[v].begin(), readers[v].end());
    readers[v].erase(std::unique(readers[v].begin(), readers[v].end()),
                     readers[v].end());
  }
  Items &last = items[end];
  for (const Output &output : graph.outputs)
    if (outputItem[output.value] < 0 && !isLoaded(output.value)) {
      outputItem[output.value] = static_cast<int>(last.size());
      last.emplace_back();
    }
  for (size_t s = 0; s < graph.states.size(); ++s) {
    ValueId written = graph.states[s].written;
    if (written < 0)
      continue;
    storedIn[written].push_back(static_cast<StateId>(s));
    if (isStoredByCopy(written)) {
      storeItem[s] = static_cast<int>(last.size());
      last.emplace_back();
    }
  }
  if (queues > devices) {
    for (size_t v = 0; v < graph.values.size(); ++v)
      startAfter[v] = startsAfter(graph, static_cast<ValueId>(v));
    started = startedStates(graph);
  }
  for (OpId op = 0; op < end; ++op)
    build(op);
  for (size_t v = 0; v < graph.values.size(); ++v)
    follow(static_cast<ValueId>(v));
  sweepAll();
}

/// Inputs and constant states are loaded wherever they are needed.
bool StepTimer::isLoaded(ValueId value) const {
  const Value &v = graph.value(value);
  return v.kind == ValueKind::Input ||
         (v.kind == ValueKind::State && graph.states[v.state].written < 0);
}

bool StepTimer::isStoredByCopy(ValueId value) const {
  const Value &written = graph.value(value);
  for (auto [result, operand] : graph.op(written.producer).rules.inPlace)
    if (result == written.result)
      return false;
  return true;
}

/// The operator's own tasks; its reads follow.
void StepTimer::build(OpId op) {
  const OpSegment &segment = table.op(op, configurations[op]);
  segments[op] = &segment;
  Items &own = items[op];
  // States do not depend on the operator that they start after.
  const size_t numStates = op == 0 ? started.size() : 0;
  Items states(own.end() -
                   static_cast<std::ptrdiff_t>(std::min(own.size(), numStates)),
               own.end());
  states.resize(numStates);
  own.clear();
  for (const OpSegment::Step &step : segment.steps) {
    own.emplace_back();
    if (step.slot < 0)
      own.back().tasks = &step.tasks;
  }
  const std::vector<ValueId> &results = graph.op(op).results;
  for (ValueId result : results)
    if (result >= 0 && result == graph.loss)
      own.emplace_back();
  if (queues > devices)
    own.resize(own.size() + results.size());
  own.insert(own.end(), states.begin(), states.end());
}

size_t StepTimer::startItem(ValueId id) const {
  const Value &value = graph.value(id);
  const OpId op = startAfter[id];
  const size_t firstState = items[op].size() - (op == 0 ? started.size() : 0);
  if (value.producer >= 0)
    return firstState - graph.op(op).results.size() + value.result;
  return firstState + (std::find(started.begin(), started.end(), value.state) -
                       started.begin());
}

void StepTimer::markDirty(OpId op) {
  if (isDirty[op])
    return;
  isDirty[op] = true;
  dirty.push_back(op);
  if (op < end)
    undo.push_back({op, configurations[op], segments[op], items[op]});
  else
    undo.push_back({op, -1, nullptr, items[op]});
}

void StepTimer::setItem(OpId op, size_t index, Item item) {
  for (const TimedTasks **tasks : {&item.start, &item.wait, &item.tasks})
    if (*tasks && (*tasks)->empty())
      *tasks = nullptr;
  if (!item.start && !item.wait)
    item.value = -1;
  if (items[op][index] == item)
    return;
  markDirty(op);
  items[op][index] = item;
}

/// Looks up the reshards of a value from its producer to its last reader.
void StepTimer::follow(ValueId id) {
  if (isLoaded(id))
    return;
  const Value &value = graph.value(id);
  LayoutId layout;
  if (value.kind == ValueKind::State) {
    OpId update = graph.value(graph.states[value.state].written).producer;
    layout = table.home(value.state, configurations[update]);
  } else {
    layout = segments[value.producer]->results[value.result];
  }
  const bool canStart = startAfter[id] >= 0;
  bool starts = canStart && (value.producer < 0 || table.isPartial(layout));
  Item start;
  auto get = [&](OpId op, size_t index, NeedId need) {
    Item item;
    if (starts) {
      const ReshardSegment &begin = table.start(layout, need);
      start.start = item.wait = &begin.tasks;
      start.value = item.value = id;
      layout = begin.after;
      starts = false;
    }
    const ReshardSegment &reshard = table.reshard(layout, need);
    item.tasks = &reshard.tasks;
    setItem(op, index, item);
    layout = reshard.after;
  };
  if (id == graph.loss)
    get(value.producer, segments[value.producer]->steps.size(),
        table.lossNeed(layout));
  for (OpId reader : readers[id]) {
    const auto &steps = segments[reader]->steps;
    for (size_t s = 0; s < steps.size(); ++s)
      if (steps[s].slot >= 0 && graph.slotValue(reader, steps[s].slot) == id)
        get(reader, s, steps[s].need);
  }
  if (canStart)
    setItem(startAfter[id], startItem(id), start);
  starts = false;
  if (int index = outputItem[id]; index >= 0) {
    setItem(end, index, {});
    if (NeedId need = table.outputNeed(layout); need >= 0)
      get(end, index, need);
  }
  for (StateId state : storedIn[id])
    if (int index = storeItem[state]; index >= 0) {
      const ReshardSegment &store = table.store(
          layout, table.home(state, configurations[value.producer]));
      Item item;
      item.tasks = &store.tasks;
      setItem(end, index, item);
      layout = store.after;
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
      for (StateId state : storedIn[result])
        add(graph.states[state].read);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Runs what is done for `op` on `now`.
void StepTimer::run(OpId op) {
  const QueueTimes times = timesAt(now.data());
  for (const Item &item : items[op]) {
    if (item.start) {
      startedAt[item.value] = static_cast<std::ptrdiff_t>(newEnds.size());
      newlyStarted.push_back(item.value);
      newEnds.resize(newEnds.size() + devices);
      item.start->start(times, newEnds.data() + startedAt[item.value]);
    }
    if (item.wait) {
      OpId after = startAfter[item.value] + 1;
      if (std::ptrdiff_t at = startedAt[item.value]; at >= 0)
        item.wait->wait(times.local, newEnds.data() + at, 0);
      else
        item.wait->wait(times.local, endsOf(item.value),
                        offsets[after] + shiftOf(after));
    }
    if (item.tasks)
      item.tasks->advance(times);
  }
}

void StepTimer::sweepAll() {
  proposed = proposeFull({});
  accept();
}

/// By how much the sweep has shifted the row before `op` without running what
/// is there.
Picoseconds StepTimer::shiftOf(OpId op) const {
  for (const Shift &shift : shifts)
    if (shift.begin <= op && op < shift.end)
      return shift.by;
  return 0;
}

/// True if what the operators from `from` to before `to` wait for, and was
/// started before them, ends later by `by`. Nothing has changed in them.
bool StepTimer::areShifted(OpId from, OpId to, Picoseconds by) const {
  for (OpId op = from; op < to; ++op)
    for (const Item &item : items[op]) {
      if (!item.wait)
        continue;
      OpId after = startAfter[item.value] + 1;
      if (after > from)
        continue;
      std::ptrdiff_t at = startedAt[item.value];
      if (at < 0) {
        if (shiftOf(after) != by)
          return false;
        continue;
      }
      const Picoseconds *was = endsOf(item.value);
      if (!item.wait->allOf([&](DeviceId device) {
            return newEnds[at + device] - was[device] - offsets[after] == by;
          }))
        return false;
    }
  return true;
}

Picoseconds StepTimer::sweep(Picoseconds limit) {
  std::sort(dirty.begin(), dirty.end());
  newRows.clear();
  newTimes.clear();
  shifts.clear();
  forgetStarted();
  if (dirty.empty())
    return current;
  size_t next = 0; // of dirty
  OpId op = dirty[0];
  for (size_t q = 0; q < queues; ++q)
    now[q] = row(op)[q] + offsets[op];
  while (true) {
    // `now` is before `op`, which is the next to run.
    if (next < dirty.size() && dirty[next] == op)
      ++next;
    run(op);
    if (*std::max_element(now.begin(), now.end()) > limit)
      return kNoLimit;
    ++op;
    newRows.push_back({op, newTimes.size()});
    newTimes.insert(newTimes.end(), now.begin(), now.end());
    if (op > end)
      break;
    if (next < dirty.size() && dirty[next] == op)
      continue;
    // Are all queues shifted alike?
    Picoseconds by = now[0] - row(op)[0];
    bool alike = true;
    for (size_t q = 1; alike && q < queues; ++q)
      alike = now[q] - row(op)[q] == by;
    OpId to = next < dirty.size() ? dirty[next] : end + 1;
    by -= offsets[op];
    if (!alike || !areShifted(op, to, by))
      continue;
    shifts.push_back({op + 1, to + 1, by});
    for (size_t q = 0; q < queues; ++q)
      now[q] = row(to)[q] + offsets[to] + by;
    op = to;
    if (op > end)
      break;
  }
  Picoseconds makespan = *std::max_element(now.begin(), now.end());
  return makespan > limit ? kNoLimit : makespan;
}

void StepTimer::forgetStarted() {
  for (ValueId value : newlyStarted)
    startedAt[value] = -1;
  newlyStarted.clear();
  newEnds.clear();
}

void StepTimer::change(const std::vector<Change> &changes) {
  for (auto [op, config] : changes) {
    if (configurations[op] == config)
      continue;
    markDirty(op);
    configurations[op] = config;
    build(op);
    touch(op);
  }
  for (ValueId value : touched) {
    isTouched[value] = false;
    follow(value);
  }
  touched.clear();
}

Picoseconds StepTimer::propose(const std::vector<Change> &changes,
                               Picoseconds limit) {
  change(changes);
  return proposed = sweep(limit);
}

Picoseconds StepTimer::proposeFull(const std::vector<Change> &changes,
                                   Picoseconds limit) {
  change(changes);
  newRows.clear();
  newTimes.clear();
  shifts.clear();
  forgetStarted();
  std::fill(now.begin(), now.end(), 0);
  for (OpId op = 0; op <= end; ++op) {
    run(op);
    if (*std::max_element(now.begin(), now.end()) > limit)
      return proposed = kNoLimit;
    newRows.push_back({op + 1, newTimes.size()});
    newTimes.insert(newTimes.end(), now.begin(), now.end());
  }
  return proposed = *std::max_element(now.begin(), now.end());
}

void StepTimer::accept() {
  for (const Shift &shift : shifts)
    for (OpId op = shift.begin; op < shift.end; ++op)
      offsets[op] += shift.by;
  for (auto [op, at] : newRows) {
    std::copy_n(newTimes.begin() + at, queues, row(op));
    offsets[op] = 0;
  }
  for (ValueId value : newlyStarted)
    std::copy_n(newEnds.begin() + startedAt[value], devices,
                ends.begin() + static_cast<std::ptrdiff_t>(value * devices));
  forgetStarted();
  current = proposed;
  for (OpId op : dirty)
    isDirty[op] = false;
  dirty.clear();
  undo.clear();
}

void StepTimer::reject() {
  forgetStarted();
  for (Undo &old : undo) {
    items[old.op].swap(old.items);
    if (old.op < end) {
      configurations[old.op] = old.config;
      segments[old.op] = old.segment;
    }
    isDirty[old.op] = false;
  }
  dirty.clear();
  undo.clear();
}
