//===- StepTimer.cpp - time of a step while its strategy is edited --------===//

#include "ffc/Plan/StepTimer.h"

#include "EarlyStart.h"

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
      starts(size_t(end) + 1), early(graph.values.size()),
      outputItem(graph.values.size(), -1), storeItem(graph.states.size(), -1),
      mayWait(size_t(end) + 1), rows((size_t(end) + 2) * queues),
      offsets(size_t(end) + 2),
      ends(queues > devices ? graph.values.size() * devices : 0),
      leads(graph.values.size(), -1), busy(devices), isDirty(size_t(end) + 1),
      isTouched(graph.values.size()), now(queues),
      startedAt(graph.values.size(), -1) {
  for (size_t v = 0; v < graph.values.size(); ++v) {
    for (Use use : graph.values[v].uses)
      readers[v].push_back(use.op);
    std::sort(readers[v].begin(), readers[v].end());
    readers[v].erase(std::unique(readers[v].begin(), readers[v].end()),
                     readers[v].end());
  }
  Items &last = items[end];
  for (const Output &output : graph.outputs) {
    if (outputItem[output.value] >= 0 || graph.isLoaded(output.value))
      continue;
    if (graph.isOfPass(output.value)) {
      outputItem[output.value] = passOutputs++;
      continue;
    }
    outputItem[output.value] = static_cast<int>(last.size());
    last.emplace_back();
  }
  for (size_t s = 0; s < graph.states.size(); ++s) {
    ValueId written = graph.states[s].written;
    if (written < 0)
      continue;
    storedIn[written].push_back(static_cast<StateId>(s));
    if (!table.isInPlace(written)) {
      storeItem[s] = static_cast<int>(last.size());
      last.emplace_back();
    }
  }
  if (queues > devices)
    rules = std::make_shared<EarlyStarts>(graph);
  newBusy = busy;
  for (OpId op = 0; op < end; ++op)
    build(op, kNoLimit);
  for (size_t v = 0; v < graph.values.size(); ++v)
    follow(static_cast<ValueId>(v), kNoLimit);
  busy = newBusy;
  planStarts();
  proposeFull({});
  accept();
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
  Items outputs; // those at the end of a pass are of other operators
  if (op + 1 == graph.passEnd) {
    outputs.resize(passOutputs);
    if (!own.empty())
      std::copy(own.end() - passOutputs, own.end(), outputs.begin());
  }
  own.clear();
  for (const OpSegment::Step &step : segment.steps) {
    own.emplace_back();
    if (step.slot >= 0)
      continue;
    own.back().tasks = &step.tasks;
    fits &= addBusy(step.tasks, limit);
  }
  for (ValueId result : graph.op(op).results)
    if (isFinished(result))
      own.emplace_back();
  own.insert(own.end(), outputs.begin(), outputs.end());
  return fits;
}

/// Right after a result there may be something to do for it: the loss is
/// completed, and what is needed after the passes is added up.
bool StepTimer::isFinished(ValueId result) const {
  return result >= 0 && (result == graph.loss || graph.isAccumulated(result));
}

/// Where among the items of its producer that stands.
size_t StepTimer::finishItem(ValueId result) const {
  const OpId op = graph.value(result).producer;
  size_t item = segments[op]->steps.size();
  for (ValueId before : graph.op(op).results) {
    if (before == result)
      break;
    item += isFinished(before);
  }
  return item;
}

/// Where an output is completed, if it has to be: an operator and an item.
std::pair<OpId, size_t> StepTimer::outputPlace(ValueId output) const {
  if (!graph.isOfPass(output))
    return {end, outputItem[output]};
  const OpId last = graph.passEnd - 1;
  return {last, items[last].size() - passOutputs + outputItem[output]};
}

void StepTimer::markDirty(OpId op) {
  if (isDirty[op])
    return;
  isDirty[op] = true;
  dirty.push_back(op);
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
  if (isFinished(id))
    forgetBusy(items[graph.value(id).producer][finishItem(id)].tasks);
  for (OpId reader : readers[id]) {
    const auto &steps = segments[reader]->steps;
    for (size_t s = 0; s < steps.size(); ++s)
      if (steps[s].slot >= 0 && graph.slotValue(reader, steps[s].slot) == id)
        forgetBusy(items[reader][s].tasks);
  }
  if (outputItem[id] >= 0) {
    auto [op, index] = outputPlace(id);
    forgetBusy(items[op][index].tasks);
  }
  for (StateId state : storedIn[id])
    if (int index = storeItem[state]; index >= 0)
      forgetBusy(items[end][index].tasks);
}

/// Looks up the reshards of a value from its producer to its last reader, after
/// forgetReshards(). False, with not all of them looked up, if a device is busy
/// for longer than `limit`.
bool StepTimer::follow(ValueId id, Picoseconds limit) {
  if (graph.isLoaded(id))
    return true;
  const Value &value = graph.value(id);
  LayoutId layout;
  if (value.kind == ValueKind::State) {
    OpId update = graph.value(graph.states[value.state].written).producer;
    layout = table.home(value.state, configurations[update]);
  } else {
    layout = segments[value.producer]->results[value.result];
  }
  bool starts = rules && rules->after(id) >= 0 &&
                (value.producer < 0 || table.isPartial(layout));
  Early start = early[id];
  start.segment = nullptr;
  auto get = [&](OpId op, size_t index, NeedId need) {
    Item item;
    if (starts) {
      const StartSegment &begin = table.start(layout, need);
      if (begin.shape >= 0)
        start.segment = &begin;
      start.reader = op;
      start.item = index;
      setEarly(id, start);
      setWait(item, id);
      layout = begin.after;
      starts = false;
    }
    const ReshardSegment &reshard = table.reshard(layout, need);
    item.tasks = &reshard.tasks;
    setItem(op, index, item);
    layout = reshard.after;
    return addBusy(reshard.tasks, limit);
  };
  const LayoutId produced = layout;
  if (id == graph.loss &&
      !get(value.producer, finishItem(id), table.lossNeed(layout)))
    return false;
  bool hasMean = graph.isAccumulated(id);
  if (hasMean) {
    Item item;
    item.tasks = &table.accumulation(layout);
    setItem(value.producer, finishItem(id), item);
    if (!addBusy(*item.tasks, limit))
      return false;
  }
  for (OpId reader : readers[id]) {
    if (hasMean && reader >= graph.passEnd) {
      layout = produced; // which the mean is in
      hasMean = false;
    }
    const auto &steps = segments[reader]->steps;
    for (size_t s = 0; s < steps.size(); ++s)
      if (steps[s].slot >= 0 && graph.slotValue(reader, steps[s].slot) == id &&
          !get(reader, s, steps[s].need))
        return false;
  }
  if (!start.segment)
    setEarly(id, start);
  starts = false;
  if (outputItem[id] >= 0) {
    auto [op, index] = outputPlace(id);
    setItem(op, index, {});
    if (NeedId need = table.outputNeed(layout);
        need >= 0 && !get(op, index, need))
      return false;
  }
  for (StateId state : storedIn[id])
    if (int index = storeItem[state]; index >= 0) {
      const ReshardSegment &store = table.store(
          layout, table.home(state, configurations[value.producer]));
      Item item;
      item.tasks = &store.tasks;
      setItem(end, index, item);
      layout = store.after;
      if (!addBusy(store.tasks, limit))
        return false;
    }
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
  if (!rules)
    return;
  using Batched = BatchedStarts<int32_t, ValueId>;
  Batched batched(*rules);
  Starts list;
  for (const EarlyStarts::Place &place : rules->places()) {
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
        to.after = place.op;
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
      for (StateId state : storedIn[result])
        add(graph.states[state].read);
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
