//===- StepOrder.cpp - what a step does, in its order ---------------------===//

#include "StepOrder.h"

#include "ffc/Plan/Recomputation.h"

#include <algorithm>
#include <map>

using namespace ffc::plan;

using Kind = StepEntry::Kind;

StepOrder::StepOrder(const Graph &graph, const OperatorOrder &operators,
                     const WrittenInPlace &inPlace, std::vector<Turn> turns,
                     const EarlyStarts &early)
    : inOrder(operators), inTurn(std::move(turns)), updates(early.updates),
      byValue(graph.values.size()), indices(graph.ops.size() + 1),
      kinds(graph.values.size(), StartKind::Alone),
      isCompleted(graph.values.size()) {
  sends.resize(inTurn.size());
  placeSends(graph);
  fetches.resize(inTurn.size());
  const bool takesTurns =
      std::any_of(inTurn.begin(), inTurn.end(),
                  [](const Turn &turn) { return turn.parts > 1; });
  if (early.areThere && !takesTurns)
    placeStarts(graph, early.sentAgain);
  placeFetches(graph, early);
  addEntries(graph, inPlace);
}

StepOrder::StepOrder(const Graph &graph, const OperatorOrder &operators,
                     const WrittenInPlace &inPlace)
    : StepOrder(graph, operators, inPlace, turnsOf(graph, operators, {}, {}),
                {operators.overlaps(), {}, {}}) {}

StepOrder StepOrder::of(const Graph &graph, const OperatorOrder &operators,
                        const WrittenInPlace &inPlace, const Strategy &strategy,
                        const PipelineSchedule &schedule) {
  return {graph,
          operators,
          inPlace,
          turnsOf(graph, operators, strategy, schedule),
          {operators.overlaps(), statesSentAgain(graph, strategy),
           updatesOfSentAgain(graph, strategy)}};
}

//===----------------------------------------------------------------------===//
// Early starts
//===----------------------------------------------------------------------===//

void StepOrder::placeStarts(const Graph &graph,
                            const std::vector<bool> &sentAgain) {
  const OpId lastOp = inOrder.lastBeforeUpdates();
  std::vector<OpId> after(graph.values.size(), -1);
  std::vector<ValueId> states;
  for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
    const Value &value = graph.value(id);
    const bool isUpdated =
        value.kind == ValueKind::State && !graph.isLoaded(id);
    // The loss is completed at once.
    if (value.uses.empty() || id == graph.loss ||
        (value.producer < 0 && !isUpdated) ||
        (!sentAgain.empty() && sentAgain[id]))
      continue;
    const OpId first = value.producer < 0 ? inOrder.at(0) : value.producer,
               reader = inOrder.firstReader(value);
    if (!inOrder.isBefore(first, reader))
      continue;
    // Nothing starts in one micro-batch and ends in another.
    if (isUpdated && graph.microBatches > 1 && !graph.isRepeated(reader))
      continue;
    after[id] = first;
    if (isUpdated) {
      kinds[id] = StartKind::State;
      states.push_back(id);
    } else if (lastOp >= 0 && !inOrder.isBefore(lastOp, first) &&
               inOrder.isBefore(lastOp, reader)) {
      kinds[id] = StartKind::Gradient;
      if (graph.microBatches > 1)
        after[id] = lastOp;
    }
  }
  std::stable_sort(states.begin(), states.end(), [&](ValueId a, ValueId b) {
    return inOrder.isBefore(inOrder.firstReader(graph.value(a)),
                            inOrder.firstReader(graph.value(b)));
  });
  std::vector<ValueId> late; // what starts when the micro-batches are over
  for (OpId op : inOrder.all()) {
    StartPlace place{op, {}, op == lastOp};
    for (ValueId result : graph.op(op).results)
      if (result >= 0 && after[result] >= 0)
        (after[result] == op ? place.values : late).push_back(result);
    if (op == lastOp)
      place.values.insert(place.values.end(), late.begin(), late.end());
    if (op == inOrder.at(0))
      place.values.insert(place.values.end(), states.begin(), states.end());
    if (!place.values.empty() || place.isLast)
      places.push_back(std::move(place));
  }
}

/// A state is sent again wherever the backward pass reads what the forward pass
/// read, or the other way round.
void StepOrder::placeFetches(const Graph &graph, const EarlyStarts &early) {
  const std::vector<bool> &sentAgain = early.sentAgain;
  if (std::find(sentAgain.begin(), sentAgain.end(), true) == sentAgain.end())
    return;
  struct Read {
    int turn = -1;
    bool isBackward = false;
  };
  std::map<ValueId, Read> last;
  std::vector<std::pair<int, Fetch>> ahead;
  int before = -1, current = -1; // turns that are the first to read a state
  for (size_t t = 0; t < inTurn.size(); ++t) {
    const auto turn = static_cast<int>(t);
    const Op &op = graph.op(inTurn[t].op);
    for (ValueId value : op.operands) {
      // Updates read it where it stays.
      if (value < 0 || !sentAgain[value] || op.role == OpRole::Update)
        continue;
      const bool backward = isBackward(graph, inTurn[t]);
      auto [it, isNew] = last.try_emplace(value);
      Read &read = it->second;
      if (isNew || read.isBackward != backward) {
        if (current != turn)
          before = current;
        current = turn;
        const Fetch fetch{value, turn, !isNew, early.areThere};
        // Not while it is read as it was sent before. What a turn reads itself
        // comes before what the next one does.
        if (fetch.isEarly && before >= 0 && read.turn < before)
          ahead.push_back({before, fetch});
        else
          fetches[turn].push_back(fetch);
      }
      read = {turn, backward};
    }
  }
  for (const auto &[from, fetch] : ahead)
    fetches[from].push_back(fetch);
}

/// Parts of a value go to the turn that reads them first.
void StepOrder::placeSends(const Graph &graph) {
  std::vector<std::vector<int>> readers(byValue.size()); // by part
  for (size_t t = 0; t < inTurn.size(); ++t) {
    const Turn &turn = inTurn[t];
    if (turn.parts > 1)
      for (ValueId value : graph.op(turn.op).operands)
        if (value >= 0) {
          readers[value].resize(turn.parts, -1);
          if (int &reader = readers[value][turn.part]; reader < 0)
            reader = static_cast<int>(t);
        }
  }
  for (size_t t = 0; t < inTurn.size(); ++t) {
    const Turn &turn = inTurn[t];
    if (turn.parts > 1 && !turn.isAgain)
      for (ValueId value : graph.op(turn.op).results)
        if (value >= 0 && value != graph.loss && !readers[value].empty() &&
            readers[value][turn.part] >= 0)
          sends[t].push_back({value, readers[value][turn.part]});
  }
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

void StepOrder::add(Kind kind, OpId row, ValueId value, StateId state) {
  StepEntry entry{kind, row, indices[row]++, value, state};
  all.push_back(entry);
  byValue[value].push_back(entry);
}

/// Outputs, all or those of which every micro-batch has its own.
void StepOrder::complete(const Graph &graph, OpId row, bool ofMicroBatch) {
  for (const Output &output : graph.outputs)
    if (!isCompleted[output.value] &&
        (!ofMicroBatch || graph.isOfMicroBatch(output.value))) {
      isCompleted[output.value] = true;
      add(Kind::Output, row, output.value);
    }
}

void StepOrder::endMicroBatch(const Graph &graph) {
  const OpId last = inOrder.lastBeforeUpdates();
  complete(graph, last, /*ofMicroBatch=*/true);
  all.push_back({Kind::EndMicroBatch, last, -1, -1, -1});
  for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id)
    if (graph.isAccumulated(id))
      byValue[id].push_back({Kind::Mean, last, -1, id, -1});
}

/// What comes after an operator's last turn.
void StepOrder::addAfter(const Graph &graph, OpId op) {
  for (ValueId result : graph.op(op).results)
    if (result >= 0) {
      if (result == graph.loss)
        add(Kind::Complete, op, result);
      if (graph.isAccumulated(result)) {
        finishSumsOf({result});
        add(Kind::Accumulate, op, result);
      }
    }
}

/// Those of a turn begin to get to their updates. After them, those that had
/// begun are waited for, so that few are there at once.
void StepOrder::addSums(const Graph &graph, int turn) {
  const Turn &of = inTurn[turn];
  if (of.ownSums == 0)
    return;
  const size_t begun = reduced.size();
  const std::vector<ValueId> &results = graph.op(of.op).results;
  for (size_t r = 0; r < results.size(); ++r)
    if (of.hasOwnSum(r)) {
      reduced.push_back({{Kind::Reduce, of.op, turn, results[r], -1}, -1});
      all.push_back(reduced.back().entry);
    }
  const Reduced *first = reduced.data() + begun;
  finishSums([&](const Reduced &each) { return &each < first; });
}

void StepOrder::finishSums(const std::function<bool(const Reduced &)> &isDue) {
  if (reduced.empty()) // mostly
    return;
  std::vector<Reduced> left;
  for (Reduced &each : reduced) {
    if (!isDue(each)) {
      left.push_back(each);
      continue;
    }
    all.push_back(each.entry);
    all.back().kind = Kind::Add;
  }
  reduced = std::move(left);
}

/// Whoever reads such a sum, or makes the next one, finds them added up.
void StepOrder::finishSumsOf(const std::vector<ValueId> &values) {
  finishSums([&](const Reduced &each) {
    return std::find(values.begin(), values.end(), each.entry.value) !=
           values.end();
  });
}

void StepOrder::addEntries(const Graph &graph, const WrittenInPlace &inPlace) {
  const auto end = static_cast<OpId>(graph.ops.size());
  size_t nextStart = 0;
  OpId left = 0; // operators of a micro-batch
  for (OpId op = 0; op < end; ++op)
    left += graph.isRepeated(op);
  for (size_t turn = 0; turn < inTurn.size(); ++turn) {
    const OpId op = inTurn[turn].op;
    finishSumsOf(graph.op(op).operands);
    finishSumsOf(graph.op(op).results);
    for (const Fetch &fetch : fetches[turn]) {
      if (fetch.isAgain)
        all.push_back({Kind::Forget, op, -1, fetch.value, -1});
      if (!fetch.isEarly)
        continue;
      all.push_back({Kind::Fetch, op, fetch.reader, fetch.value, -1});
      for (Reduced &each : reduced)
        if (each.thereAt < 0 || fetch.reader < each.thereAt)
          each.thereAt = fetch.reader;
    }
    all.push_back({Kind::Run, op, static_cast<int>(turn), -1, -1});
    const std::vector<ValueId> &reads = graph.op(op).operands;
    for (size_t slot = 0; slot < reads.size(); ++slot)
      if (reads[slot] >= 0 &&
          graph.firstSlot(op, static_cast<int>(slot)) == static_cast<int>(slot))
        byValue[reads[slot]].push_back(
            {Kind::Read, op, static_cast<int>(slot), reads[slot], -1});
    for (auto [value, reader] : sends[turn])
      all.push_back({Kind::Send, op, reader, value, -1});
    finishSums([&](const Reduced &each) {
      return each.thereAt == static_cast<int>(turn);
    });
    addSums(graph, static_cast<int>(turn));
    if (!inTurn[turn].isLast() || inTurn[turn].isAgain)
      continue;
    addAfter(graph, op);
    if (graph.isRepeated(op) && --left == 0)
      endMicroBatch(graph);
    if (nextStart < places.size() && places[nextStart].op == op) {
      const auto index = static_cast<int>(nextStart++);
      all.push_back({Kind::Start, op, index, -1, -1});
      for (ValueId value : places[index].values)
        byValue[value].push_back({Kind::Start, op, index, value, -1});
    }
  }
  complete(graph, end, /*ofMicroBatch=*/false);
  for (StateId s = 0; s < static_cast<StateId>(graph.states.size()); ++s)
    if (ValueId written = graph.states[s].written; written >= 0) {
      if (inPlace.contains(written))
        byValue[written].push_back({Kind::Store, end, -1, written, s});
      else
        add(Kind::Store, end, written, s);
    }
}
