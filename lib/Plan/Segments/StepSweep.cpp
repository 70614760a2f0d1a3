//===- StepSweep.cpp - the time of a step after a change ------------------===//

#include "ffc/Plan/StepTimer.h"

#include "Order/StepOrder.h"

#include <algorithm>

using namespace ffc::plan;

/// Operators between two looks at the limit: a look costs as much as some.
static constexpr int kLook = 8;

/// The operator that is done there, or the end of the step.
OpId StepTimer::opAt(int place) const {
  return place < end ? operators.at(place) : end;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Runs what is done at `place` on `now`.
void StepTimer::run(int place) {
  const OpId op = opAt(place);
  const QueueTimes times = timesAt(now.data());
  for (const Item &item : items[op]) {
    if (item.wait) {
      const int after = item.after + 1;
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
  if (graph.microBatches > 1 && op == operators.lastBeforeUpdates()) {
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

void StepTimer::keepRow(int place) {
  newRows.push_back({place, newTimes.size()});
  newTimes.insert(newTimes.end(), now.begin(), now.end());
}

//===----------------------------------------------------------------------===//
// Jumps
//===----------------------------------------------------------------------===//

/// By how much the sweep has shifted the row before `place` without running
/// what is there.
Picoseconds StepTimer::shiftOf(int place) const {
  auto after = std::upper_bound(
      shifts.begin(), shifts.end(), place,
      [](int place, const Shift &shift) { return place < shift.begin; });
  return after != shifts.begin() && place < (after - 1)->end ? (after - 1)->by
                                                             : 0;
}

/// Does a wait before which all queues are late by `by` still leave them so? It
/// does if what it waits for is late by as much, or has ended before both
/// times.
bool StepTimer::isShifted(const Item &item, Picoseconds by) {
  const int after = item.after + 1;
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

/// The first place from `from` on to before `to` that does not pass on that all
/// queues are late by `by`; `to` if all do. Nothing has changed in them.
int StepTimer::endOfShift(int from, int to, Picoseconds by) {
  const size_t known = newLeads.size();
  // What comes after the micro-batches is late by that of all of them.
  if (const OpId last = operators.lastBeforeUpdates();
      by != 0 && graph.microBatches > 1)
    if (const int place = operators.placeOf(last); from <= place && place < to)
      to = place;
  for (int place = from; place < to; ++place) {
    const OpId op = opAt(place);
    if (!mayWait[op])
      continue;
    for (const Item &item : items[op])
      if (item.wait && item.after < from && !isShifted(item, by)) {
        newLeads.resize(known);
        return place;
      }
  }
  return to;
}

/// If all queues of `now` are late by the same time against the row before
/// `place`, that time.
std::optional<Picoseconds> StepTimer::lateness(int place) const {
  const Picoseconds *was = row(place);
  const Picoseconds by = now[0] - was[0];
  for (size_t q = 1; q < queues; ++q)
    if (now[q] - was[q] != by)
      return std::nullopt;
  return by - offsets[place];
}

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

Picoseconds StepTimer::sweep(Picoseconds limit) {
  std::sort(dirty.begin(), dirty.end());
  startSweep();
  if (dirty.empty())
    return current;
  auto last = [&] { return *std::max_element(now.begin(), now.end()); };
  size_t next = 0; // of dirty
  int place = dirty[0];
  for (size_t q = 0; q < queues; ++q)
    now[q] = row(place)[q] + offsets[place];
  // A place that stood in the way of a jump does so until it is passed, if
  // the jump is by the same time.
  int obstacle = -1;
  Picoseconds obstructed = 0;
  while (true) {
    // `now` is before `place`, which is the next to run.
    if (next < dirty.size() && dirty[next] == place)
      ++next;
    run(place);
    ++place;
    if (place % kLook == 0 && last() > limit)
      return kNoLimit;
    keepRow(place);
    if (place > end)
      break;
    if (next < dirty.size() && dirty[next] == place)
      continue;
    const std::optional<Picoseconds> by = lateness(place);
    if (!by || (place <= obstacle && *by == obstructed))
      continue;
    const int to = next < dirty.size() ? dirty[next] : end + 1;
    if (int found = endOfShift(place, to, *by); found < to) {
      obstacle = found;
      obstructed = *by;
      continue;
    }
    shifts.push_back({place + 1, to + 1, *by});
    for (size_t q = 0; q < queues; ++q)
      now[q] = row(to)[q] + offsets[to] + *by;
    place = to;
    if (place > end)
      break;
  }
  const Picoseconds makespan = last();
  return makespan > limit ? kNoLimit : makespan;
}

/// From the beginning to the end, which becomes what the next one starts from.
Picoseconds StepTimer::sweepAll(Picoseconds limit) {
  std::fill(now.begin(), now.end(), 0);
  std::fill(offsets.begin(), offsets.end(), 0);
  std::copy(now.begin(), now.end(), row(0));
  auto last = [&] { return *std::max_element(now.begin(), now.end()); };
  for (int place = 0; place <= end; ++place) {
    run(place);
    if (place % kLook == 0 && last() > limit)
      return kNoLimit;
    std::copy(now.begin(), now.end(), row(place + 1));
  }
  return last();
}
