//===- StepTimer.cpp - time of a step while its strategy is edited --------===//

#include "ffc/Plan/StepTimer.h"

#include "StartBatches.h"

#include <algorithm>

using namespace ffc::plan;

/// Everything about these may change with an operator: what it reads and makes,
/// and the states that it updates, which live where they are updated.
static std::vector<ValueId> touchedBy(const Graph &graph,
                                      const StepOrder &order, OpId op) {
  std::vector<ValueId> all;
  auto add = [&](ValueId value) {
    if (value >= 0 && !graph.isLoaded(value) &&
        std::find(all.begin(), all.end(), value) == all.end())
      all.push_back(value);
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
  return all;
}

StepTimer::StepTimer(SegmentTable &table, const std::vector<ConfigId> &configs)
    : table(table), graph(table.graph()), devices(table.numDevices()),
      queues(table.cost().overlaps() ? 2 * devices : devices),
      end(static_cast<OpId>(graph.ops.size())), order(table.order()),
      operators(order.operators()), segments(end), items(end + 1),
      starts(size_t(end) + 1), early(graph.values.size()),
      reshards(graph.values.size()), mayWait(size_t(end) + 1),
      rows((size_t(end) + 2) * queues), offsets(size_t(end) + 2),
      ends(queues > devices ? graph.values.size() * devices : 0),
      leads(graph.values.size(), -1), busy(devices), isDirty(size_t(end) + 1),
      isTouched(graph.values.size()), now(queues),
      startedAt(graph.values.size(), -1),
      batches(std::make_unique<Batches>(order)) {
  for (OpId op = 0; op < end; ++op)
    touchedBy.push_back(::touchedBy(graph, order, op));
  for (OpId op = 0; op <= end; ++op)
    items[op].resize(order.numIndices(op));
  restart(configs);
}

StepTimer::~StepTimer() = default;

//===----------------------------------------------------------------------===//
// What a proposal changes
//===----------------------------------------------------------------------===//

/// The row in which an operator is done is no longer what it was.
void StepTimer::markDirty(OpId op) {
  const int place = operators.placeOf(op);
  if (isDirty[place])
    return;
  isDirty[place] = true;
  dirty.push_back(place);
  if (undo.size() < dirty.size())
    undo.emplace_back();
  Undo &old = undo[dirty.size() - 1];
  old.op = op;
  old.items = items[op];
  old.starts = starts[op];
}

void StepTimer::setItem(OpId op, size_t index, const Item &item) {
  if (items[op][index] == item)
    return;
  markDirty(op);
  items[op][index] = item;
  mayWait[op] |= item.wait != nullptr;
}

/// The operator's own tasks; its reads follow.
void StepTimer::buildRow(OpId op) {
  markDirty(op);
  const std::vector<OpSegment::Step> &steps = segments[op]->steps;
  Items &own = items[op];
  // Outputs at the end of a micro-batch are of other operators.
  const auto kept = static_cast<std::ptrdiff_t>(order.numIndices(op));
  const auto had = static_cast<std::ptrdiff_t>(own.size()) - kept;
  const auto has = static_cast<std::ptrdiff_t>(steps.size());
  if (had < has)
    own.insert(own.begin(), static_cast<size_t>(has - had), {});
  else
    own.erase(own.begin(), own.begin() + (had - has));
  for (size_t s = 0; s < steps.size(); ++s) {
    own[s] = {};
    if (steps[s].slot < 0)
      own[s].tasks = &steps[s].tasks;
  }
}

/// Puts what was looked up where it is done.
void StepTimer::apply() {
  for (const Replaced &old : replaced)
    buildRow(old.op);
  for (const Set &set : sets)
    setItem(set.op, set.index, set.item);
  if (isEarlyChanged)
    planStarts();
}

/// False if some device is busy for longer than `limit`, even if it never
/// waits; the proposal can then only be rejected. Told as soon as it is known,
/// before more is looked up and made, and before anything is put where it is
/// done.
bool StepTimer::change(const std::vector<Change> &changes, Picoseconds limit) {
  newBusy = busy;
  isEarlyChanged = false;
  forget(changes);
  if (!lookUp(changes, limit))
    return false;
  apply();
  return true;
}

Picoseconds StepTimer::propose(const std::vector<Change> &changes,
                               Picoseconds limit) {
  startSweep();
  proposed = change(changes, limit) ? sweep(limit) : kNoLimit;
  return proposed;
}

void StepTimer::accept() {
  for (const Shift &shift : shifts)
    for (int place = shift.begin; place < shift.end; ++place)
      offsets[place] += shift.by;
  for (auto [place, at] : newRows) {
    std::copy_n(newTimes.begin() + static_cast<std::ptrdiff_t>(at), queues,
                row(place));
    offsets[place] = 0;
  }
  for (ValueId value : newlyStarted)
    std::copy_n(newEnds.begin() + startedAt[value], devices,
                ends.begin() + static_cast<std::ptrdiff_t>(value * devices));
  for (auto [value, lead] : newLeads)
    leads[value] = lead;
  for (const Followed &each : followed)
    reshards[each.value].assign(newReshards.begin() + each.first,
                                newReshards.begin() + each.end);
  current = proposed;
  busy = newBusy;
  endProposal();
}

void StepTimer::reject() {
  for (; !undoEarly.empty(); undoEarly.pop_back())
    early[undoEarly.back().first] = undoEarly.back().second;
  for (size_t u = 0; u < dirty.size(); ++u) {
    items[undo[u].op].swap(undo[u].items);
    starts[undo[u].op].swap(undo[u].starts);
  }
  for (const Replaced &old : replaced) {
    configurations[old.op] = old.config;
    segments[old.op] = old.segment;
  }
  endProposal();
}

void StepTimer::endProposal() {
  forgetStarted();
  for (int place : dirty)
    isDirty[place] = false;
  dirty.clear();
  undoEarly.clear();
  replaced.clear();
  sets.clear();
  newReshards.clear();
  followed.clear();
}

//===----------------------------------------------------------------------===//
// Without deltas
//===----------------------------------------------------------------------===//

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
