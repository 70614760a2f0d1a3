//===- ReadsApart.cpp - reads of a value that share nothing ---------------===//

#include "ReadsApart.h"

#include "Step/BlockIndex.h"
#include "ffc/Plan/Configuration.h"

#include <algorithm>
#include <set>

using namespace ffc::plan;

/// So many times its readers may be found to meet before a value is given up.
static constexpr size_t kMostMeetings = 8;

ReadsApart::ReadsApart(const Graph &graph) : slots(graph.ops.size()) {
  std::vector<bool> isNeededWhole(graph.values.size());
  for (const Output &output : graph.outputs)
    isNeededWhole[output.value] = true;
  for (const State &state : graph.states)
    for (ValueId value : {state.read, state.written})
      if (value >= 0)
        isNeededWhole[value] = true;
  if (graph.loss >= 0)
    isNeededWhole[graph.loss] = true;
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (const auto id = static_cast<ValueId>(v);
        !isNeededWhole[v] && !graph.isAccumulated(id) &&
        graph.value(id).uses.size() > 1)
      look(graph, graph.value(id));
}

/// What all of the operator's points together read through a slot.
static std::vector<Region> readBy(const Op &op, int slot, const Shape &shape) {
  const Tile tile = Configuration::onDevice(0).tileOf(op.rules, 0);
  std::vector<Region> regions;
  for (const Schedule &schedule : op.rules.schedules)
    for (const Phase &phase : schedule.phases)
      for (const SlotRead &read : phase.reads)
        if (read.slot == slot)
          regions.push_back(regionOf(read.access, op.rules.dims, tile, shape));
  return regions;
}

void ReadsApart::look(const Graph &graph, const Value &value) {
  BlockIndex index;
  std::vector<std::vector<Region>> regions;
  std::set<OpId> readers;
  const int64_t all = Region(Box::whole(value.type.shape)).volume();
  for (const Use &use : value.uses) {
    regions.push_back(readBy(graph.op(use.op), use.operand, value.type.shape));
    for (const Region &region : regions.back()) {
      if (region.volume() == all)
        return;
      index.add(region, static_cast<int>(regions.size()) - 1);
    }
    // Twice by one operator.
    if (!readers.insert(use.op).second)
      return;
  }
  size_t left = kMostMeetings * regions.size();
  for (size_t u = 0; u < regions.size(); ++u) {
    bool meets = false;
    for (const Region &region : regions[u])
      region.forEachBox([&](const Box &box) {
        const std::vector<int> &met = index.meeting(box);
        left -= std::min(left, met.size());
        meets |= std::any_of(met.begin(), met.end(), [&](int other) {
          return other != static_cast<int>(u);
        });
      });
    if (left == 0)
      return;
    const Use &use = value.uses[u];
    if (!meets && use.operand < kSlots)
      slots[use.op] |= uint64_t(1) << use.operand;
  }
}
