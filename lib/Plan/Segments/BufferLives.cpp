//===- BufferLives.cpp - which buffers a step has, and how long -----------===//

#include "BufferLives.h"

#include <algorithm>
#include <set>

using namespace ffc::plan;

using Part = SegmentTable::Part;

BufferLives::BufferLives(SegmentTable &table,
                         const std::vector<ConfigId> &configs)
    : table(table), graph(table.graph()), configs(configs),
      placed(graph.values.size()), operands(table.numDevices()),
      points(table.numDevices()), wroteTo(table.numDevices()) {
  placeStates();
  for (const StepEntry &entry : table.order().entries())
    visit(entry);
  overwrite();
}

void BufferLives::visit(const StepEntry &entry) {
  switch (entry.kind) {
  case StepEntry::Kind::Run:
    return run(entry.row);
  case StepEntry::Kind::Complete:
    return reshard(entry.value, table.lossNeed(placed[entry.value].layout));
  case StepEntry::Kind::Accumulate: {
    Placed &where = placed[entry.value];
    ++now;
    for (int buffer : where.buffers)
      touch(buffer);
    for (const Part &part : table.parts(where.layout))
      kept.push_back({part, entry.value, 0, 0});
    means[entry.value].layout = where.layout;
    means[entry.value].buffers.assign(where.buffers.size(), kKept);
    return;
  }
  case StepEntry::Kind::EndMicroBatch:
    for (auto &[value, where] : means)
      placed[value] = std::move(where);
    means.clear();
    return;
  case StepEntry::Kind::Output:
    if (!graph.isLoaded(entry.value))
      if (NeedId need = table.outputNeed(placed[entry.value].layout); need >= 0)
        reshard(entry.value, need);
    return;
  case StepEntry::Kind::Start:
    for (ValueId value : table.order().starts()[entry.index].values)
      start(value);
    return;
  case StepEntry::Kind::Store: {
    const LayoutId written = placed[entry.value].layout,
                   home = table.home(
                       entry.state, configs[graph.value(entry.value).producer]);
    return move(entry.value, table.store(written, home).after,
                table.storeUse(written, home));
  }
  case StepEntry::Kind::Read:
  case StepEntry::Kind::Mean:
    break; // of values
  case StepEntry::Kind::Send:
  case StepEntry::Kind::Fetch:
    break; // of what is timed by its program
  }
}

int BufferLives::add(ValueId value, const Part &part) {
  buffers.push_back({part, value, now, now});
  return static_cast<int>(buffers.size()) - 1;
}

//===----------------------------------------------------------------------===//
// States and inputs
//===----------------------------------------------------------------------===//

void BufferLives::placeStates() {
  for (StateId s = 0; s < static_cast<StateId>(graph.states.size()); ++s) {
    const State &state = graph.states[s];
    if (state.written < 0)
      continue;
    Placed &where = placed[state.read];
    where.layout = table.home(s, configs[graph.value(state.written).producer]);
    for (const Part &part : table.parts(where.layout)) {
      kept.push_back({part, state.read, 0, 0});
      where.buffers.push_back(kKept);
    }
  }
}

void BufferLives::load(OpId op, const OpSegment::Step &step, Placed &where) {
  const ValueId id = graph.slotValue(op, step.slot);
  const Value &value = graph.value(id);
  const std::vector<int64_t> &codes = table.codes(step.need);
  const std::vector<Part> &parts = table.parts(step.need, value.type);
  for (size_t p = 0; p < parts.size(); ++p) {
    auto [it, added] = where.loaded.try_emplace(codes[p], kKept);
    if (added && value.kind == ValueKind::State) {
      kept.push_back({parts[p], id, 0, 0});
    } else if (added) {
      it->second = add(id, parts[p]);
      buffers[it->second].first = 0; // filled before the step
    }
    toRead.push_back(it->second);
    operands[parts[p].device].push_back({step.slot, parts[p], it->second});
    withOperands.push_back(parts[p].device);
  }
}

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

void BufferLives::reshard(ValueId value, NeedId need) {
  const LayoutId before = placed[value].layout;
  if (LayoutId after = table.reshard(before, need).after; after != before)
    move(value, after, table.reshardUse(before, need));
}

/// First what is read is there, then what is written.
void BufferLives::move(ValueId value, LayoutId layout, const BufferUse &use) {
  Placed &where = placed[value];
  ++now;
  for (int32_t number : use.touched)
    touch(where.buffers[number]);
  ++now;
  const std::vector<Part> &parts = table.parts(layout);
  std::vector<int> after;
  for (size_t p = 0; p < parts.size(); ++p)
    after.push_back(use.from[p] < 0 ? add(value, parts[p])
                                    : where.buffers[use.from[p]]);
  // Of the peak, the new buffers are counted already.
  for (auto [device, bytes] : use.peak)
    messages.push_back({now, device, bytes});
  for (size_t p = 0; p < parts.size(); ++p)
    if (use.from[p] < 0 && parts[p].bytes > 0)
      messages.push_back({now, parts[p].device, -parts[p].bytes});
  where.layout = layout;
  where.buffers = std::move(after);
}

/// The first reader waits for the collectives that start here.
void BufferLives::start(ValueId value) {
  Placed &where = placed[value];
  if (!startsEarly(graph.value(value), table.isPartial(where.layout)))
    return;
  const OpId reader = firstReader(graph.value(value));
  for (const OpSegment::Step &step : table.op(reader, configs[reader]).steps) {
    if (step.slot < 0 || graph.slotValue(reader, step.slot) != value)
      continue;
    const StartSegment &begin = table.start(where.layout, step.need);
    if (begin.shape < 0)
      return;
    const BufferUse &use = table.startUse(where.layout, step.need);
    std::vector<int> before = where.buffers;
    move(value, begin.after, use);
    for (int32_t number : use.touched)
      where.unfinished.push_back(before[number]);
    for (size_t p = 0; p < where.buffers.size(); ++p)
      if (use.from[p] < 0)
        where.unfinished.push_back(where.buffers[p]);
    return;
  }
}

void BufferLives::finish(Placed &where) {
  if (where.unfinished.empty())
    return;
  ++now;
  for (int buffer : where.unfinished)
    touch(buffer);
  where.unfinished.clear();
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

void BufferLives::run(OpId op) {
  for (DeviceId device : withOperands)
    operands[device].clear();
  withOperands.clear();
  toRead.clear();
  const OpSegment &segment = table.op(op, configs[op]);
  for (const OpSegment::Step &step : segment.steps) {
    if (step.slot >= 0) {
      read(op, step);
      continue;
    }
    ++now;
    for (int buffer : toRead)
      touch(buffer);
    toRead.clear();
  }
  countPoints(table.config(configs[op]));
  const std::vector<ValueId> &results = graph.op(op).results;
  for (size_t r = 0; r < results.size(); ++r)
    if (results[r] >= 0)
      write(op, results[r], segment.results[r]);
  ++now;
}

void BufferLives::countPoints(const Configuration &config) {
  for (DeviceId device : withPoints)
    points[device] = 0;
  withPoints = config.devices;
  for (DeviceId device : withPoints)
    ++points[device];
}

void BufferLives::read(OpId op, const OpSegment::Step &step) {
  const ValueId value = graph.slotValue(op, step.slot);
  Placed &where = placed[value];
  if (graph.isLoaded(value))
    return load(op, step, where);
  finish(where);
  reshard(value, step.need);
  const std::vector<Part> &parts = table.parts(where.layout);
  for (int32_t number : table.find(where.layout, step.need)) {
    const int buffer = where.buffers[number];
    toRead.push_back(buffer);
    operands[parts[number].device].push_back(
        {step.slot, parts[number], buffer});
    withOperands.push_back(parts[number].device);
  }
}

void BufferLives::write(OpId op, ValueId value, LayoutId layout) {
  Placed &where = placed[value];
  where.layout = layout;
  where.buffers.clear();
  const bool isPartial = table.isPartial(layout);
  for (const Part &part : table.parts(layout)) {
    const size_t known = buffers.size();
    where.buffers.push_back(bufferFor(op, value, part));
    if (buffers.size() == known || points[part.device] < 2)
      continue;
    // Points of one device run one after the other: when all results are there,
    // what the first ones have read may not be. The first result comes while
    // all operands are.
    if (isPartial || wroteTo[part.device])
      buffers.back().first = now + 1;
    wroteTo[part.device] = true;
  }
  for (DeviceId device : withPoints)
    wroteTo[device] = false;
}

/// The buffer of a part of operand `slot` that is as large; kKept if there is
/// none in the arena.
int BufferLives::operandLike(const Op &op, int slot, const Part &part) const {
  for (const OperandPart &operand : operands[part.device])
    if (operand.slot == slot && operand.part == part)
      return operand.buffer;
  return kKept;
}

int BufferLives::bufferFor(OpId id, ValueId value, const Part &part) {
  const Op &op = graph.op(id);
  const int result = graph.value(value).result;
  if (op.rules.keepsBytes && result == 0)
    if (int buffer = operandLike(op, 0, part); buffer != kKept)
      return buffer;
  for (auto [written, operand] : op.rules.inPlace)
    if (written == result) {
      const int buffer = operandLike(op, operand, part);
      touch(buffer);
      return buffer;
    }
  if (table.isInPlace(value))
    return kKept;
  const int buffer = add(value, part);
  for (auto [written, operand] : op.rules.mayOverwrite)
    if (written == result)
      if (int before = operandLike(op, operand, part); before != kKept)
        overwrites.push_back({buffer, before});
  return buffer;
}

/// A result may begin when the operand ends. One result follows an operand.
void BufferLives::overwrite() {
  std::set<int> taken, placed;
  for (auto [result, operand] : overwrites) {
    Buffer &after = buffers[result];
    if (buffers[operand].last != after.first || placed.count(result) ||
        !taken.insert(operand).second)
      continue;
    placed.insert(result);
    ++after.first;
  }
}
