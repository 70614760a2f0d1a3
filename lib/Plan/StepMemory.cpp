//===- StepMemory.cpp - what a strategy needs on every device -------------===//

#include "ffc/Plan/StepMemory.h"

#include "StepOrder.h"

#include <algorithm>
#include <tuple>

using namespace ffc::plan;

namespace {
class Accounts {
public:
  Accounts(SegmentTable &table, const std::vector<ConfigId> &configs)
      : table(table), graph(table.graph()), configs(configs),
        end(static_cast<OpId>(graph.ops.size())), always(table.numDevices()) {}

  std::vector<int64_t> run() {
    collect();
    std::vector<int64_t> now = always, most = always;
    for (const Change &change : changes)
      for (auto [device, bytes] : *change.bytes) {
        now[device] += change.sign * bytes;
        most[device] = std::max(most[device], now[device]);
      }
    return most;
  }

  /// Of `device`, when it needs most.
  MemoryParts partsOf(DeviceId wanted) {
    collect();
    MemoryParts now, most;
    auto take = [&](const Change &change) {
      for (auto [device, bytes] : *change.bytes)
        if (device == wanted)
          now.*partOf(change.value) += change.sign * bytes;
    };
    for (const Change &change : kept)
      take(change);
    most = now;
    for (const Change &change : changes) {
      take(change);
      if (now.total() > most.total())
        most = now;
    }
    return most;
  }

private:
  /// Twice the operator's number, plus one for what happens after it.
  using When = int64_t;
  using DeviceBytes = SegmentTable::DeviceBytes;
  struct Change {
    When when;
    int sign;
    const DeviceBytes *bytes;
    ValueId value;
  };

  void collect() {
    for (size_t v = 0; v < graph.values.size(); ++v)
      add(static_cast<ValueId>(v));
    // What ends at an operator is still there while others begin, since it ends
    // after it.
    std::sort(changes.begin(), changes.end(),
              [](const Change &a, const Change &b) {
                return std::tie(a.when, a.sign) < std::tie(b.when, b.sign);
              });
  }

  /// What a value is counted as.
  int64_t MemoryParts::*partOf(ValueId id) const {
    const Value &value = graph.value(id);
    auto isOfUpdate = [&](Use use) {
      return graph.op(use.op).role == OpRole::Update;
    };
    if (value.kind == ValueKind::State)
      return !value.uses.empty() && std::all_of(value.uses.begin(),
                                                value.uses.end(), isOfUpdate)
                 ? &MemoryParts::optimizer
                 : &MemoryParts::parameters;
    if (value.producer < 0)
      return &MemoryParts::activations;
    const OpRole role = graph.op(value.producer).role;
    if (role == OpRole::Update)
      return &MemoryParts::parameters;
    return role == OpRole::Gradient &&
                   std::any_of(value.uses.begin(), value.uses.end(), isOfUpdate)
               ? &MemoryParts::gradients
               : &MemoryParts::activations;
  }

  void add(ValueId id) {
    current = id;
    const Value &value = graph.value(id);
    bool isState = value.kind == ValueKind::State;
    bool updated = isState && graph.states[value.state].written >= 0;
    std::vector<OpId> readers;
    for (Use use : value.uses)
      readers.push_back(use.op);
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    bool stays = !isState && isOutput(id);
    When first = value.producer >= 0 ? 2 * value.producer
                 : readers.empty()   ? 0
                                     : 2 * readers.front();
    When last = stays || readers.empty() ? 2 * end : 2 * readers.back() + 1;
    if (graph.isLoaded(id)) {
      for (OpId reader : readers)
        for (const OpSegment::Step &step :
             table.op(reader, configs[reader]).steps)
          if (step.slot >= 0 && graph.slotValue(reader, step.slot) == id)
            hold(table.needBytes(step.need, value.type), isState, first, last);
      return;
    }
    LayoutId layout =
        updated ? table.home(value.state, configs[producerOfUpdate(value)])
                : table.op(value.producer, configs[value.producer])
                      .results[value.result];
    const LayoutId produced = layout;
    const When finalLast = last;
    if (graph.isAccumulated(id)) {
      hold(table.layoutBytes(layout), true, 0, 0);
      last = first + 1;
      for (OpId reader : readers)
        if (reader < graph.passEnd)
          last = 2 * reader + 1;
    }
    if (updated)
      hold(table.layoutBytes(layout), true, 0, 0);
    else if (!table.isInPlace(id))
      hold(table.layoutBytes(layout), false, first, last);
    auto change = [&](LayoutId after, When when) {
      if (after == layout)
        return;
      hold(table.layoutBytes(after), false, when, last);
      hold(table.layoutBytes(layout), false, when, last, -1);
      layout = after;
    };
    OpId starts = -1;
    for (const StepEntry &entry : table.order().of(id)) {
      if (entry.kind == StepEntry::Kind::Start &&
          (value.producer < 0 || table.isPartial(layout)))
        starts = entry.row;
      if (entry.kind == StepEntry::Kind::Mean) {
        layout = produced;
        last = finalLast;
      }
      if (entry.kind != StepEntry::Kind::Read)
        continue;
      const OpId reader = entry.row;
      for (const OpSegment::Step &step :
           table.op(reader, configs[reader]).steps)
        if (step.slot >= 0 && graph.slotValue(reader, step.slot) == id) {
          if (starts >= 0)
            change(table.start(layout, step.need).after, 2 * starts + 1);
          starts = -1;
          change(table.reshard(layout, step.need).after, 2 * reader);
        }
    }
  }

  OpId producerOfUpdate(const Value &value) const {
    return graph.value(graph.states[value.state].written).producer;
  }

  bool isOutput(ValueId id) const {
    return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                       [&](const Output &o) { return o.value == id; });
  }

  void hold(const DeviceBytes &bytes, bool isState, When first, When last,
            int sign = 1) {
    if (isState) {
      for (auto [device, count] : bytes)
        always[device] += count;
      kept.push_back({0, 1, &bytes, current});
      return;
    }
    changes.push_back({first, sign, &bytes, current});
    changes.push_back({last, -sign, &bytes, current});
  }

  SegmentTable &table;
  const Graph &graph;
  const std::vector<ConfigId> &configs;
  OpId end;
  ValueId current = -1;        ///< that is added
  std::vector<int64_t> always; ///< by device: what is there all the time
  std::vector<Change> kept;    ///< which is made of these
  std::vector<Change> changes;
};
} // namespace

std::vector<int64_t>
ffc::plan::stepMemory(SegmentTable &table,
                      const std::vector<ConfigId> &configs) {
  return Accounts(table, configs).run();
}

MemoryParts ffc::plan::largestMemory(SegmentTable &table,
                                     const std::vector<ConfigId> &configs) {
  const std::vector<int64_t> bytes = stepMemory(table, configs);
  const auto most = std::max_element(bytes.begin(), bytes.end());
  return Accounts(table, configs)
      .partsOf(static_cast<DeviceId>(most - bytes.begin()));
}
