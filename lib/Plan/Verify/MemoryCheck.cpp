//===- MemoryCheck.cpp - do buffers keep to themselves? -------------------===//

#include "MemoryCheck.h"

#include "ffc/Plan/Arena.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

using namespace ffc::plan;

/// Sweeps over the device's actions with the buffers in use ordered by offset.
std::optional<std::string> ffc::plan::checkMemory(const Graph &graph,
                                                  const Strategy &strategy,
                                                  const Program &program,
                                                  const DeviceProgram &device) {
  for (auto [symmetric, all, name] :
       {std::make_tuple(program.symmetricState, device.stateBytes, "state"),
        std::make_tuple(program.symmetricArena, device.arenaBytes, "arena")})
    if (symmetric < 0 || symmetric > all)
      return "symmetric part of the " + std::string(name) + " has " +
             std::to_string(symmetric) + " bytes, expected at most " +
             std::to_string(all);
  const SharedPlaces places = sharedPlacesOf(graph, strategy, device);
  std::vector<Lifetime> lifetimes = lifetimesOf(device);
  // What has another buffer's bytes is that buffer, if it lies there.
  auto isView = [&](BufferId b) {
    const BufferId base = places.base[b];
    return base != b && device.buffers[base].offset == device.buffers[b].offset;
  };
  for (BufferId b = 0; b < static_cast<BufferId>(lifetimes.size()); ++b)
    if (isView(b))
      lifetimes[places.base[b]].last =
          std::max(lifetimes[places.base[b]].last, lifetimes[b].last);
  std::set<std::pair<BufferId, BufferId>> overwrites;
  for (auto [result, operand] : places.overwrites)
    overwrites.insert(
        {result, isView(operand) ? places.base[operand] : operand});
  std::map<int, std::vector<BufferId>> starts, ends;
  for (BufferId b = 0; b < static_cast<BufferId>(device.buffers.size()); ++b) {
    const Buffer &buffer = device.buffers[b];
    bool state = buffer.section == Section::State;
    int64_t limit = state ? device.stateBytes : device.arenaBytes;
    if (buffer.bytes == 0 || isView(b) ||
        (!state && lifetimes[b].last < lifetimes[b].first))
      continue;
    if (buffer.offset < 0 || buffer.offset + buffer.bytes > limit)
      return "buffer '" + buffer.name + "' ends at byte " +
             std::to_string(buffer.offset + buffer.bytes) +
             ", expected at most " + std::to_string(limit);
    int64_t symmetric = program.symmetricBytes(buffer.section);
    if (buffer.offset < symmetric && buffer.offset + buffer.bytes > symmetric)
      return "buffer '" + buffer.name + "' lies across byte " +
             std::to_string(symmetric) + ", where the symmetric part ends";
    Lifetime life = lifetimes[b];
    if (state)
      life = {-1, static_cast<int>(device.actions.size())};
    starts[life.first].push_back(b);
    ends[life.last].push_back(b);
  }
  // By offset, per section. Where a result overwrites an operand: the result.
  std::map<int64_t, BufferId> inUse[2];
  for (auto &[time, opening] : starts) {
    while (!ends.empty() && ends.begin()->first < time) {
      for (BufferId b : ends.begin()->second) {
        auto &section = inUse[device.buffers[b].section == Section::State];
        auto it = section.find(device.buffers[b].offset);
        if (it != section.end() && it->second == b)
          section.erase(it);
      }
      ends.erase(ends.begin());
    }
    for (BufferId b : opening) {
      const Buffer &buffer = device.buffers[b];
      auto &section = inUse[buffer.section == Section::State];
      auto after = section.lower_bound(buffer.offset);
      const Buffer *clash = nullptr;
      bool inPlace = after != section.end() && after->first == buffer.offset &&
                     overwrites.count({b, after->second}) > 0;
      if (after != section.end() && !inPlace &&
          after->first < buffer.offset + buffer.bytes)
        clash = &device.buffers[after->second];
      if (after != section.begin()) {
        const Buffer &before = device.buffers[std::prev(after)->second];
        if (before.offset + before.bytes > buffer.offset)
          clash = &before;
      }
      if (clash)
        return "buffers '" + buffer.name + "' and '" + clash->name +
               "' share bytes while both are in use";
      section[buffer.offset] = b;
    }
  }
  return std::nullopt;
}
