//===- RepairGroups.cpp - devices that share their layers otherwise -------===//

#include "Repair.h"

#include <algorithm>
#include <map>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// A split of all layers of a set that takes longer by more than this share of
/// the time is not made better.
static constexpr Picoseconds kShareOfTime = 4;

/// The members split so on the devices, in that order.
Repair::Choices Repair::inGrid(const std::vector<size_t> &members,
                               const std::vector<DeviceId> &devices,
                               const TensorGrid &grid) const {
  Choices choices;
  for (size_t member : members) {
    const NumberedChoice own = walker.numbered(space.anchors()[member]);
    if (const auto config = tensorGridOn(space, roles, own.op, grid, devices))
      choices.push_back({own.op, walker.number(*config), own.options});
  }
  return choices;
}

static std::vector<NumberedChoice>
joined(const std::vector<std::vector<NumberedChoice>> &parts) {
  std::vector<NumberedChoice> all;
  for (const std::vector<NumberedChoice> &part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Every layer of `sets` on the devices, in that order, with the samples split
/// so: all of them by one tensor grid, then each set by another one as long as
/// that is faster. True if the step gets faster.
bool Repair::solveGroups(const std::vector<std::vector<size_t>> &sets,
                         const std::vector<DeviceId> &devices,
                         int64_t samples) {
  const Picoseconds now = walker.makespan();
  const std::vector<int64_t> groups =
      divisorsOf(static_cast<int64_t>(devices.size()) / samples);
  Picoseconds least = now + now / kShareOfTime;
  std::vector<Choices> chosen;
  auto tryThis = [&](const std::vector<Choices> &tried) {
    const Choices all = joined(tried);
    if (all.empty() || !isLeft())
      return;
    ++made;
    ++regroupings.proposed;
    const Picoseconds time = walker.proposeNumbered(all, least - 1);
    walker.reject();
    if (time < least) {
      least = time;
      chosen = tried;
    }
  };
  auto gridOf = [&](int64_t group) {
    return TensorGrid{samples, group, groups.back() / group};
  };
  for (int64_t group : groups) {
    std::vector<Choices> tried;
    for (const std::vector<size_t> &members : sets)
      tried.push_back(inGrid(members, devices, gridOf(group)));
    tryThis(tried);
  }
  for (size_t s = 0; !chosen.empty() && sets.size() > 1 && s < sets.size(); ++s)
    for (int64_t group : groups) {
      std::vector<Choices> tried = chosen;
      tried[s] = inGrid(sets[s], devices, gridOf(group));
      tryThis(tried);
    }
  return least < now && take(joined(chosen), regroupings);
}

/// Layers on the same devices, and those of them that are alike.
bool Repair::solveGroups() {
  std::map<std::vector<DeviceId>, std::vector<size_t>> byDevices;
  for (size_t a : open) {
    std::vector<DeviceId> devices = walker.config(space.anchors()[a]).devices;
    std::sort(devices.begin(), devices.end());
    if (devices.size() > 1)
      byDevices[std::move(devices)].push_back(a);
  }
  bool gained = false;
  for (const auto &[devices, members] : byDevices) {
    std::vector<std::vector<DeviceId>> orders{devices};
    for (size_t member : members)
      if (const std::vector<DeviceId> &order =
              walker.config(space.anchors()[member]).devices;
          orders.size() < 2 && order != devices)
        orders.push_back(order);
    std::map<int, std::vector<size_t>> byClass;
    for (size_t member : members)
      byClass[space.classOf(member)].push_back(member);
    std::vector<std::vector<size_t>> sets;
    for (const auto &[number, same] : byClass)
      sets.push_back(same);
    for (const std::vector<DeviceId> &order : orders)
      for (int64_t samples : divisorsOf(static_cast<int64_t>(devices.size()))) {
        for (const std::vector<size_t> &set : sets)
          gained |= solveGroups({set}, order, samples);
        // All of everything is what recipes are for.
        if (sets.size() > 1 && members.size() < open.size())
          gained |= solveGroups(sets, order, samples);
      }
  }
  return gained;
}

bool Repair::regroup(int64_t budget) {
  end = made + budget;
  bool gained = false;
  while (solveGroups())
    gained = true;
  return gained;
}
