//===- BufferLives.cpp - which buffers a step has, and how long -----------===//

#include "BufferLives.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ffc::plan;

using Part = SegmentTable::Part;

BufferLives::BufferLives(SegmentTable &table,
                         const std::vector<ConfigId> &configs)
    : BufferLives(table, table.order(), configs) {}

BufferLives::BufferLives(SegmentTable &table, const StepOrder &order,
                         const std::vector<ConfigId> &configs)
    : table(table), graph(table.graph()), configs(configs),
      placed(graph.values.size()), operands(table.numDevices()),
      points(table.numDevices()), wroteTo(table.numDevices()) {
  regular =
      StepWalk(table, order, configs, StepWalk::Wants::Buffers, *this).run();
  overwrite();
}

BufferLives::Placed &BufferLives::at(ValuePart value) {
  std::vector<Placed> &parts = placed[value.value];
  if (static_cast<size_t>(value.part) >= parts.size())
    parts.resize(static_cast<size_t>(value.part) + 1);
  return parts[value.part];
}

int BufferLives::add(ValueId value, const Part &part) {
  buffers.push_back({part, value, now, now});
  return static_cast<int>(buffers.size()) - 1;
}

//===----------------------------------------------------------------------===//
// States and inputs
//===----------------------------------------------------------------------===//

void BufferLives::home(ValueId state, LayoutId layout) {
  Placed &where = at({state});
  where.layout = layout;
  for (const Part &part : table.parts(layout)) {
    kept.push_back({part, state, 0, 0});
    where.buffers.push_back(kKept);
  }
}

void BufferLives::forget(ValueId value, LayoutId layout) {
  Placed &where = at({value});
  where.layout = layout;
  where.buffers.resize(table.parts(layout).size());
}

void BufferLives::load(const OpSegment::Step &step, ValuePart from) {
  Placed &where = at(from);
  const Value &value = graph.value(from.value);
  const std::vector<int64_t> &codes = table.codes(step.need);
  const std::vector<Part> &parts = table.parts(step.need, value.type);
  for (size_t p = 0; p < parts.size(); ++p) {
    auto [it, added] = where.loaded.try_emplace(codes[p], kKept);
    if (added && value.kind == ValueKind::State) {
      kept.push_back({parts[p], from.value, 0, 0});
    } else if (added) {
      it->second = add(from.value, parts[p]);
      buffers[it->second].first = 0; // filled before the step
    }
    toRead.push_back(it->second);
    operands[parts[p].device].push_back({step.slot, parts[p], it->second});
    withOperands.push_back(parts[p].device);
  }
}

void BufferLives::accumulate(ValueId value, LayoutId layout) {
  ++now;
  Placed &where = at({value});
  for (int buffer : where.buffers)
    touch(buffer);
  for (const Part &part : table.parts(layout))
    kept.push_back({part, value, 0, 0});
  means[value].layout = layout;
  means[value].buffers.assign(where.buffers.size(), kKept);
}

void BufferLives::addSum(ValueId value, LayoutId layout,
                         const std::vector<int32_t> &numbers,
                         const Turn &turn) {
  ++now;
  Placed &where = at({value}), &sum = sums[value];
  Placed kept;
  kept.layout = layout;
  for (int32_t number : numbers)
    kept.buffers.push_back(where.buffers[number]);
  if (turn.isFirst()) {
    sum = std::move(kept);
  } else {
    for (const auto *used : {&kept.buffers, &sum.buffers})
      for (int buffer : *used)
        touch(buffer);
  }
  where = {};
  if (turn.isLast())
    where = std::move(sum);
}

void BufferLives::beMean(ValueId value) {
  at({value}) = std::move(means[value]);
}

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

/// First what is read is there, then what is written.
void BufferLives::move(ValuePart value, LayoutId layout, const BufferUse &use) {
  Placed &where = at(value);
  ++now;
  for (int32_t number : use.touched)
    touch(where.buffers[number]);
  ++now;
  const std::vector<Part> &parts = table.parts(layout);
  std::vector<int> after;
  for (size_t p = 0; p < parts.size(); ++p)
    after.push_back(use.from[p] < 0 ? add(value.value, parts[p])
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

void BufferLives::begin(ValuePart value, LayoutId after, const BufferUse &use,
                        const std::vector<int32_t> &read, int id) {
  Begun begun;
  begun.id = id;
  for (int32_t number : read)
    begun.read.push_back(at(value).buffers[number]);
  move(value, after, use);
  const std::vector<int> &now = at(value).buffers;
  for (size_t p = 0; p < now.size(); ++p)
    if (use.from[p] < 0)
      begun.written.push_back(now[p]);
  at(value).begun.push_back(std::move(begun));
}

void BufferLives::end(ValuePart value, int id, StepWalk::Waiting who,
                      const std::vector<DeviceId> &receivers) {
  std::vector<Begun> &all = at(value).begun;
  const auto it = std::find_if(all.begin(), all.end(), [&](const Begun &begun) {
    return begun.id == id;
  });
  if (it == all.end())
    return;
  ++now;
  auto isReceivers = [&](int buffer) {
    return buffer != kKept &&
           std::binary_search(receivers.begin(), receivers.end(),
                              buffers[buffer].part.device);
  };
  for (const auto *used : {&it->written, &it->read})
    for (int buffer : *used)
      if (who == StepWalk::Waiting::All ||
          isReceivers(buffer) == (who == StepWalk::Waiting::Receivers))
        touch(buffer);
  if (who != StepWalk::Waiting::Receivers)
    all.erase(it);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

void BufferLives::beginTurn(const Turn &turn) {
  op = turn.op;
  for (DeviceId device : withOperands)
    operands[device].clear();
  withOperands.clear();
  toRead.clear();
  countPoints(op, turn.parts);
}

void BufferLives::countPoints(OpId op, int turns) {
  // Most have the configuration of the one before.
  if (counted >= 0 && configs[op] == configs[counted] && turns == countedTurns)
    return;
  counted = op;
  countedTurns = turns;
  for (DeviceId device : withPoints)
    points[device] = 0;
  withPoints.clear();
  for (DeviceId device : table.config(configs[op]).devices)
    if (points[device]++ == 0)
      withPoints.push_back(device);
  for (DeviceId device : withPoints)
    points[device] = (points[device] + turns - 1) / turns;
}

void BufferLives::read(const OpSegment::Step &step, ValuePart from,
                       LayoutId layout) {
  const std::vector<int> &known = at(from).buffers;
  const std::vector<Part> &parts = table.parts(layout);
  for (int32_t number : table.find(layout, step.need)) {
    const int buffer = known[number];
    toRead.push_back(buffer);
    operands[parts[number].device].push_back(
        {step.slot, parts[number], buffer});
    withOperands.push_back(parts[number].device);
  }
}

void BufferLives::compute() {
  ++now;
  for (int buffer : toRead)
    touch(buffer);
  toRead.clear();
}

void BufferLives::endTurn() { ++now; }

/// A sum that goes on, maybe with its parts in another order.
void BufferLives::goOn(Placed &where, LayoutId layout) {
  for (int buffer : where.buffers)
    touch(buffer);
  if (layout == where.layout)
    return;
  const std::vector<Part> &parts = table.parts(layout),
                          &before = table.parts(where.layout);
  std::vector<int> after;
  std::vector<bool> taken(before.size());
  for (const Part &part : parts)
    for (size_t p = 0; p < before.size(); ++p)
      if (!taken[p] && before[p] == part) {
        taken[p] = true;
        after.push_back(where.buffers[p]);
        break;
      }
  where.layout = layout;
  where.buffers = std::move(after);
}

void BufferLives::write(size_t result, ValuePart to, LayoutId layout,
                        bool adds) {
  Placed &where = at(to);
  if (adds)
    return goOn(where, layout);
  const ValueId value = graph.op(op).results[result];
  where.layout = layout;
  where.buffers.clear();
  const bool isPartial = table.isPartial(layout);
  std::map<std::pair<DeviceId, int64_t>, int> alike; // by device and bytes
  for (const Part &part : table.parts(layout)) {
    const size_t known = buffers.size();
    const int number =
        points[part.device] < 2 ? 0 : alike[{part.device, part.bytes}]++;
    where.buffers.push_back(bufferFor(op, value, part, number));
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

/// The buffer of part `number` of those of operand `slot` that are as large;
/// kKept if there is none in the arena. Points have the same order in operands
/// and results.
int BufferLives::operandLike(int slot, const Part &part, int number) const {
  for (const OperandPart &operand : operands[part.device]) {
    if (operand.slot != slot || !(operand.part == part))
      continue;
    if (number == 0)
      return operand.buffer;
    --number;
  }
  return kKept;
}

/// `number`: of the result's parts on the device that are as large.
int BufferLives::bufferFor(OpId id, ValueId value, const Part &part,
                           int number) {
  const Op &op = graph.op(id);
  const int result = graph.value(value).result;
  if (op.rules.keepsBytes && result == 0)
    if (int buffer = operandLike(0, part, number); buffer != kKept)
      return buffer;
  for (auto [written, operand] : op.rules.inPlace)
    if (written == result) {
      const int buffer = operandLike(operand, part, number);
      touch(buffer);
      return buffer;
    }
  if (table.isInPlace(value))
    return kKept;
  const int buffer = add(value, part);
  for (auto [written, operand] : op.rules.mayOverwrite)
    if (written == result)
      if (int before = operandLike(operand, part, number); before != kKept)
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
