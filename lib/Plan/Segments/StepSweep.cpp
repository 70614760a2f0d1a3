//===- StepSweep.cpp - the time of a step after a change ------------------===//

#include "ffc/Plan/StepTimer.h"

#include <algorithm>

using namespace ffc::plan;

/// Operators between two looks at the limit: a look costs as much as some.
static constexpr OpId kLook = 8;

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Runs what is done for `op` on `now`.
void StepTimer::run(OpId op) {
  const QueueTimes times = timesAt(now.data());
  for (const Item &item : items[op]) {
    if (item.wait) {
      const OpId after = item.after + 1;
      Picoseconds lead;
      if (std::ptrdiff_t at = startedAt[item.batch]; at >= 0)
        lead = item.wait->wait(times.local, newEnds.data() + at, 0);
      else
        lead = item.wait->wait(times.local, endsOf(item.batch),
                               offsets[after] + shiftOf(after));
      newLeads.push_back({item.value, lead});
    }
    if (item.tasks)
      item.tasks->advance(times);
  }
  if (op + 1 == graph.microBatchEnd) {
    const Picoseconds others =
        otherMicroBatches(graph, *std::max_element(now.begin(), now.end()));
    for (Picoseconds &time : now)
      time += others;
  }
  for (const Start &start : starts[op]) {
    startedAt[start.batch] = static_cast<std::ptrdiff_t>(newEnds.size());
    newlyStarted.push_back(start.batch);
    newEnds.resize(newEnds.size() + devices);
    start.tasks->start(times, newEnds.data() + startedAt[start.batch]);
  }
  // A network queue that is free before the local one might as well be free at
  // the same time, since nothing starts on it before; rows are then alike more
  // often.
  for (size_t d = 0; d < devices; ++d)
    times.network[d] = std::max(times.network[d], times.local[d]);
}

void StepTimer::keepRow(OpId op) {
  newRows.push_back({op, newTimes.size()});
  newTimes.insert(newTimes.end(), now.begin(), now.end());
}

//===----------------------------------------------------------------------===//
// Jumps
//===----------------------------------------------------------------------===//

/// By how much the sweep has shifted the row before `op` without running what
/// is there.
Picoseconds StepTimer::shiftOf(OpId op) const {
  auto after = std::upper_bound(
      shifts.begin(), shifts.end(), op,
      [](OpId op, const Shift &shift) { return op < shift.begin; });
  return after != shifts.begin() && op < (after - 1)->end ? (after - 1)->by : 0;
}

/// Does a wait before which all queues are late by `by` still leave them so? It
/// does if what it waits for is late by as much, or has ended before both
/// times.
bool StepTimer::isShifted(const Item &item, Picoseconds by) {
  const OpId after = item.after + 1;
  const std::ptrdiff_t at = startedAt[item.batch];
  if (at < 0 && shiftOf(after) == by)
    return true;
  Picoseconds least = shiftOf(after), most = least;
  if (at >= 0) {
    least = kNoLimit;
    most = -kNoLimit;
    const Picoseconds *was = endsOf(item.batch);
    item.wait->eachDevice([&](DeviceId device) {
      Picoseconds late = newEnds[at + device] - was[device] - offsets[after];
      least = std::min(least, late);
      most = std::max(most, late);
    });
    if (least == by && most == by)
      return true;
  }
  const Picoseconds lead = leads[item.value] + by - most;
  if (leads[item.value] < 0 || lead < 0)
    return false;
  newLeads.push_back({item.value, lead});
  return true;
}

/// The first operator from `from` on to before `to` that does not pass on that
/// all queues are late by `by`; `to` if all do. Nothing has changed in them.
OpId StepTimer::endOfShift(OpId from, OpId to, Picoseconds by) {
  const size_t known = newLeads.size();
  // What comes after the micro-batches is late by that of all of them.
  if (by != 0 && from < graph.microBatchEnd && graph.microBatchEnd <= to)
    to = graph.microBatchEnd - 1;
  for (OpId op = from; op < to; ++op) {
    if (!mayWait[op])
      continue;
    for (const Item &item : items[op])
      if (item.wait && item.after < from && !isShifted(item, by)) {
        newLeads.resize(known);
        return op;
      }
  }
  return to;
}

/// If all queues of `now` are late by the same time against the row before
/// `op`, that time.
std::optional<Picoseconds> StepTimer::lateness(OpId op) const {
  const Picoseconds *was = row(op);
  const Picoseconds by = now[0] - was[0];
  for (size_t q = 1; q < queues; ++q)
    if (now[q] - was[q] != by)
      return std::nullopt;
  return by - offsets[op];
}

Picoseconds StepTimer::sweep(Picoseconds limit) {
  std::sort(dirty.begin(), dirty.end());
  startSweep();
  if (dirty.empty())
    return current;
  auto last = [&] { return *std::max_element(now.begin(), now.end()); };
  size_t next = 0; // of dirty
  OpId op = dirty[0];
  for (size_t q = 0; q < queues; ++q)
    now[q] = row(op)[q] + offsets[op];
  // An operator that stood in the way of a jump does so until it is passed, if
  // the jump is by the same time.
  OpId obstacle = -1;
  Picoseconds obstructed = 0;
  while (true) {
    // `now` is before `op`, which is the next to run.
    if (next < dirty.size() && dirty[next] == op)
      ++next;
    run(op);
    ++op;
    if (op % kLook == 0 && last() > limit)
      return kNoLimit;
    keepRow(op);
    if (op > end)
      break;
    if (next < dirty.size() && dirty[next] == op)
      continue;
    const std::optional<Picoseconds> by = lateness(op);
    if (!by || (op <= obstacle && *by == obstructed))
      continue;
    const OpId to = next < dirty.size() ? dirty[next] : end + 1;
    if (OpId found = endOfShift(op, to, *by); found < to) {
      obstacle = found;
      obstructed = *by;
      continue;
    }
    shifts.push_back({op + 1, to + 1, *by});
    for (size_t q = 0; q < queues; ++q)
      now[q] = row(to)[q] + offsets[to] + *by;
    op = to;
    if (op > end)
      break;
  }
  const Picoseconds makespan = last();
  return makespan > limit ? kNoLimit : makespan;
}

//===----------------------------------------------------------------------===//
// Proposals
//===----------------------------------------------------------------------===//

void StepTimer::startSweep() {
  newRows.clear();
  newTimes.clear();
  newLeads.clear();
  shifts.clear();
  forgetStarted();
}

void StepTimer::forgetStarted() {
  for (ValueId value : newlyStarted)
    startedAt[value] = -1;
  newlyStarted.clear();
  newEnds.clear();
}

Picoseconds StepTimer::propose(const std::vector<Change> &changes,
                               Picoseconds limit) {
  startSweep();
  proposed = change(changes, limit) ? sweep(limit) : kNoLimit;
  return proposed;
}

Picoseconds StepTimer::proposeFull(const std::vector<Change> &changes,
                                   Picoseconds limit) {
  startSweep();
  if (!change(changes, limit))
    return proposed = kNoLimit;
  std::fill(now.begin(), now.end(), 0);
  auto last = [&] { return *std::max_element(now.begin(), now.end()); };
  for (OpId op = 0; op <= end; ++op) {
    run(op);
    if (op % kLook == 0 && last() > limit)
      return proposed = kNoLimit;
    keepRow(op + 1);
  }
  return proposed = last();
}

void StepTimer::accept() {
  for (const Shift &shift : shifts)
    for (OpId op = shift.begin; op < shift.end; ++op)
      offsets[op] += shift.by;
  for (auto [op, at] : newRows) {
    std::copy_n(newTimes.begin() + static_cast<std::ptrdiff_t>(at), queues,
                row(op));
    offsets[op] = 0;
  }
  for (ValueId value : newlyStarted)
    std::copy_n(newEnds.begin() + startedAt[value], devices,
                ends.begin() + static_cast<std::ptrdiff_t>(value * devices));
  for (auto [value, lead] : newLeads)
    leads[value] = lead;
  forgetStarted();
  current = proposed;
  busy = newBusy;
  for (OpId op : dirty)
    isDirty[op] = false;
  dirty.clear();
  undo.clear();
  undoEarly.clear();
}

void StepTimer::reject() {
  forgetStarted();
  for (; !undoEarly.empty(); undoEarly.pop_back())
    early[undoEarly.back().first] = undoEarly.back().second;
  for (Undo &old : undo) {
    items[old.op].swap(old.items);
    starts[old.op].swap(old.starts);
    if (old.op < end) {
      configurations[old.op] = old.config;
      segments[old.op] = old.segment;
    }
    isDirty[old.op] = false;
  }
  dirty.clear();
  undo.clear();
}
