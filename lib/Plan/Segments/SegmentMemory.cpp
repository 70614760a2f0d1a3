//===- SegmentMemory.cpp - the buffers of layouts and reshards ------------===//

#include "Memory/ArenaBlocks.h"
#include "SegmentTables.h"
#include "Step/ReshardWriter.h"

#include <algorithm>
#include <tuple>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

namespace {
/// Planned tasks as lives of buffers.
class LifeSink : public TaskSink {
public:
  /// Between which calls of the planner a buffer is in use.
  struct Life {
    DeviceId device = -1;
    int64_t bytes = 0; ///< 0 in the state
    int first = -1, last = -1;
  };
  std::vector<Life> lives; ///< by buffer

  BufferId addBuffer(DeviceId device, ValueId /*value*/,
                     const std::string & /*name*/, const TensorType &type,
                     const Region &region, MemoryOrder order,
                     Section section) override {
    const int64_t bytes =
        section == Section::State ? 0 : bufferBytes(region, order, type.type);
    lives.push_back({device, aligned(bytes), -1, -1});
    return static_cast<BufferId>(lives.size()) - 1;
  }
  void kernel(const Kernel & /*kernel*/) override {} // reshards have none
  void copy(const Copy &copy, TaskId /*task*/,
            const std::string & /*name*/) override {
    touch(copy.dst);
    touch(copy.src);
    ++calls;
  }
  void exchange(const std::vector<Sent> &messages, const Busy & /*busy*/,
                ReshardTask /*task*/, const std::string & /*name*/,
                Waits * /*later*/) override {
    for (const Sent &message : messages) {
      touch(message.from);
      touch(message.to);
    }
    ++calls;
  }
  void collectives(const std::vector<Collective> &all, ReshardTask /*task*/,
                   const std::string & /*name*/, Waits * /*later*/) override {
    for (const Collective &collective : all)
      for (const auto *buffers : {&collective.src, &collective.dst})
        for (BufferId buffer : *buffers)
          touch(buffer);
    ++calls;
  }

private:
  void touch(BufferId buffer) {
    Life &life = lives[buffer];
    life.last = calls;
    if (life.first < 0)
      life.first = calls;
  }
  int calls = 0;
};
} // namespace

/// The most that buffers from number `first` on hold at once, by device.
static DeviceBytes peakOf(const std::vector<LifeSink::Life> &lives,
                          size_t first) {
  struct Change {
    DeviceId device;
    int at;
    int64_t bytes;
  };
  std::vector<Change> changes;
  for (size_t b = first; b < lives.size(); ++b)
    if (const LifeSink::Life &life = lives[b];
        life.first >= 0 && life.bytes > 0) {
      changes.push_back({life.device, life.first, life.bytes});
      changes.push_back({life.device, life.last + 1, -life.bytes});
    }
  // What ends at a call does so before others begin.
  std::sort(changes.begin(), changes.end(),
            [](const Change &a, const Change &b) {
              return std::tie(a.device, a.at, a.bytes) <
                     std::tie(b.device, b.at, b.bytes);
            });
  DeviceBytes peak;
  int64_t now = 0;
  for (const Change &change : changes) {
    if (peak.empty() || peak.back().first != change.device) {
      peak.push_back({change.device, 0});
      now = 0;
    }
    now += change.bytes;
    peak.back().second = std::max(peak.back().second, now);
  }
  return peak;
}

/// What `sink` did until its first `known` buffers, and others, are those of
/// `after`.
static BufferUse useOf(const LifeSink &sink, size_t known,
                       const Placement &after) {
  BufferUse use;
  for (size_t b = 0; b < known; ++b)
    if (sink.lives[b].first >= 0)
      use.touched.push_back(static_cast<int32_t>(b));
  auto add = [&](BufferId buffer) {
    use.from.push_back(static_cast<size_t>(buffer) < known ? buffer : -1);
  };
  for (const Holding &holding : after.holdings)
    add(holding.buffer);
  for (const PartialGroup &group : after.groups)
    for (const PartialGroup::Member &member : group.members)
      add(member.buffer);
  use.peak = peakOf(sink.lives, known);
  return use;
}

/// What plan(sink, where, type) does to the buffers of a layout.
template <class Tables, class Plan>
static BufferUse useBy(const Tables &tables, LayoutId layout, Plan plan) {
  LifeSink sink;
  Placement where = tables.placementOf(tables.layouts[layout], sink);
  const size_t known = sink.lives.size();
  plan(sink, where, tables.layouts[layout].type);
  return useOf(sink, known, where);
}

const BufferUse &SegmentTable::reshardUse(LayoutId layout, NeedId need) {
  auto plan = [&](TaskSink &sink, Placement &where, const TensorType &type) {
    reshardTo(sink, tables->cost, where, -1, type, "",
              tables->partsOf(tables->missing(layout, need)), {});
  };
  return lookUp(tables->reshardUses, layout, need,
                [&] { return useBy(*tables, layout, plan); });
}

const BufferUse &SegmentTable::startUse(LayoutId layout, NeedId need) {
  auto plan = [&](TaskSink &sink, Placement &where, const TensorType &type) {
    const std::string name; // outlives the writer
    auto planned = planEarly(sink, tables->cost, where, -1, type, name,
                             tables->partsOf(tables->missing(layout, need)));
    if (!planned)
      return;
    TaskSink::Waits waits;
    ReshardWriter(sink, -1, type, name, {}, planned->targets)
        .write(planned->plan, where.holdings, where.groups, &waits);
  };
  return lookUp(tables->startUses, layout, need,
                [&] { return useBy(*tables, layout, plan); });
}

const BufferUse &SegmentTable::sendUse(LayoutId layout, NeedId need) {
  auto plan = [&](TaskSink &sink, Placement &where, const TensorType &type) {
    const std::string name; // outlives the writer
    const PlannedReshard planned = planReshardTo(
        sink, tables->cost, where, -1, type, name,
        tables->partsOf(tables->missing(layout, need)), planMessages);
    TaskSink::Waits waits;
    ReshardWriter(sink, -1, type, name, {}, planned.targets)
        .write(planned.plan, where.holdings, where.groups, &waits);
  };
  return lookUp(tables->sendUses, layout, need,
                [&] { return useBy(*tables, layout, plan); });
}

const BufferUse &SegmentTable::storeUse(LayoutId written, LayoutId home) {
  auto plan = [&](TaskSink &sink, Placement &where, const TensorType &type) {
    tables->storeIn(home, type, where, sink);
  };
  return lookUp(tables->storeUses, written, home,
                [&] { return useBy(*tables, written, plan); });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

const std::vector<SegmentTable::Part> &SegmentTable::parts(LayoutId id) {
  auto [it, added] = tables->layoutParts.try_emplace(id);
  if (added) {
    const Tables::Layout &layout = tables->layouts[id];
    auto add = [&, &parts = it->second](DeviceId device, const Region &region,
                                        MemoryOrder order) {
      parts.push_back(
          {device, aligned(bufferBytes(region, order, layout.type.type))});
    };
    for (const Need &part : tables->partsOf(layout.holdings))
      add(part.device, part.region, part.order);
    for (const Tables::Layout::Group &group : layout.groups)
      for (DeviceId member : group.members)
        add(member, tables->regions[group.region], group.order);
  }
  return it->second;
}

const std::vector<SegmentTable::Part> &
SegmentTable::parts(NeedId need, const TensorType &type) {
  const int64_t size = byteSize(type.type);
  return lookUp(tables->needParts, need, static_cast<int32_t>(size), [&] {
    Tables::Parts parts;
    for (const Need &part : tables->partsOf(tables->needs[need]))
      parts.push_back({part.device, aligned(bufferBytes(part.region, part.order,
                                                        type.type))});
    return parts;
  });
}

const std::vector<int64_t> &SegmentTable::codes(NeedId need) const {
  return tables->needs[need];
}

const std::vector<int32_t> &SegmentTable::find(LayoutId layout, NeedId need) {
  return lookUp(tables->found, layout, need, [&] {
    const std::vector<Tables::PartCode> &have =
        tables->layouts[layout].holdings;
    DeviceIndex index;
    for (Tables::PartCode code : have)
      index.add(Tables::deviceOf(code));
    std::vector<int32_t> found;
    for (Tables::PartCode wanted : tables->needs[need]) {
      int at = index.first(Tables::deviceOf(wanted));
      while (have[at] != wanted)
        at = index.next(at);
      found.push_back(at);
    }
    return found;
  });
}
