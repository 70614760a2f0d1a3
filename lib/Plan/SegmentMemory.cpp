//===- SegmentMemory.cpp - the buffers of layouts and reshards ------------===//

#include "ArenaBlocks.h"
#include "SegmentTables.h"

#include <algorithm>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

/// The most that buffers from number `first` on hold at once, by device.
static DeviceBytes peakOf(const std::vector<TimeSink::Life> &lives,
                          size_t first) {
  struct Change {
    DeviceId device;
    int at;
    int64_t bytes;
  };
  std::vector<Change> changes;
  for (size_t b = first; b < lives.size(); ++b)
    if (const TimeSink::Life &life = lives[b];
        life.first >= 0 && life.bytes > 0) {
      changes.push_back({life.device, life.first, aligned(life.bytes)});
      changes.push_back({life.device, life.last + 1, -aligned(life.bytes)});
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

std::shared_ptr<const BufferUse>
SegmentTable::Tables::useOf(const Layout &before, const Placement &after,
                            const TimeSink &sink) {
  auto use = std::make_shared<BufferUse>();
  size_t known = before.holdings.size();
  for (const Layout::Group &group : before.groups)
    known += group.members.size();
  const std::vector<TimeSink::Life> &lives = sink.lives();
  for (size_t b = 0; b < known; ++b)
    if (lives[b].first >= 0)
      use->touched.push_back(static_cast<int32_t>(b));
  auto add = [&](BufferId buffer) {
    use->from.push_back(static_cast<size_t>(buffer) < known ? buffer : -1);
  };
  for (const Holding &holding : after.holdings)
    add(holding.buffer);
  for (const PartialGroup &group : after.groups)
    for (const PartialGroup::Member &member : group.members)
      add(member.buffer);
  use->peak = peakOf(lives, known);
  return use;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

const std::vector<SegmentTable::Part> &SegmentTable::parts(LayoutId id) {
  auto [it, added] = tables->layoutParts.try_emplace(id);
  if (added) {
    const Tables::Layout &layout = tables->layouts[id];
    const int64_t size = byteSize(layout.type.type);
    auto add = [&, &parts = it->second](DeviceId device, const Region &region) {
      parts.push_back({device, aligned(region.volume() * size)});
    };
    for (const Need &part : tables->partsOf(layout.holdings))
      add(part.device, part.region);
    for (const Tables::Layout::Group &group : layout.groups)
      for (DeviceId member : group.members)
        add(member, tables->regions[group.region]);
  }
  return it->second;
}

const std::vector<SegmentTable::Part> &
SegmentTable::parts(NeedId need, const TensorType &type) {
  const int64_t size = byteSize(type.type);
  const uint64_t key = pairKey(need, static_cast<int32_t>(size));
  if (const Tables::Parts *known = tables->needParts.find(key))
    return *known;
  Tables::Parts parts;
  for (const Need &part : tables->partsOf(tables->needs[need]))
    parts.push_back({part.device, aligned(part.region.volume() * size)});
  return tables->needParts.insert(key, std::move(parts));
}

const std::vector<int64_t> &SegmentTable::codes(NeedId need) const {
  return tables->needs[need];
}

const std::vector<int32_t> &SegmentTable::find(LayoutId layout, NeedId need) {
  const uint64_t key = pairKey(layout, need);
  if (const std::vector<int32_t> *known = tables->found.find(key))
    return *known;
  const std::vector<Tables::PartCode> &have = tables->layouts[layout].holdings;
  DeviceIndex index;
  for (Tables::PartCode code : have)
    index.add(Tables::deviceOf(code));
  std::vector<int32_t> found;
  for (Tables::PartCode wanted : tables->needs[need])
    for (int at = index.first(Tables::deviceOf(wanted)); at >= 0;
         at = index.next(at))
      if (have[at] == wanted) {
        found.push_back(at);
        break;
      }
  return tables->found.insert(key, std::move(found));
}
