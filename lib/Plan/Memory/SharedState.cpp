//===- SharedState.cpp - two steps on one state ---------------------------===//

#include "ffc/Plan/SharedState.h"

#include "ArenaBlocks.h"

#include <algorithm>
#include <map>

using namespace ffc::plan;

static const Buffer &bufferOf(const DeviceProgram &device,
                              const StateSlot &slot) {
  return device.buffers[slot.buffer];
}

void ffc::plan::keepStatesOf(const Graph &owner, const Program &ownersProgram,
                             Graph &graph) {
  std::map<std::string, std::vector<StatePart>> written;
  for (size_t d = 0; d < ownersProgram.devices.size(); ++d) {
    const DeviceProgram &device = ownersProgram.devices[d];
    for (const StateSlot &slot : device.states) {
      const State &state = owner.states[slot.state];
      const Buffer &buffer = bufferOf(device, slot);
      if (state.written >= 0)
        written[state.name].push_back(
            {static_cast<DeviceId>(d), buffer.region, buffer.order});
    }
  }
  for (State &state : graph.states)
    if (auto it = written.find(state.name); it != written.end())
      state.kept = it->second;
}

void ffc::plan::shareState(const Graph &owner, const Program &ownersProgram,
                           const Graph &graph, Program &program) {
  for (size_t d = 0; d < program.devices.size(); ++d) {
    const DeviceProgram &theirs = ownersProgram.devices[d];
    DeviceProgram &mine = program.devices[d];
    std::multimap<std::string, const Buffer *> byName;
    for (const StateSlot &slot : theirs.states)
      byName.emplace(owner.states[slot.state].name, &bufferOf(theirs, slot));
    mine.stateBytes = theirs.stateBytes;
    for (const StateSlot &slot : mine.states) {
      Buffer &buffer = mine.buffers[slot.buffer];
      auto [first, last] = byName.equal_range(graph.states[slot.state].name);
      auto same = std::find_if(first, last, [&](const auto &entry) {
        return entry.second->region == buffer.region &&
               entry.second->order == buffer.order &&
               entry.second->type == buffer.type;
      });
      if (same != last) {
        buffer.offset = same->second->offset;
        continue;
      }
      buffer.offset = mine.stateBytes;
      mine.stateBytes += aligned(buffer.bytes);
    }
  }
  program.symmetricState = 0;
}
