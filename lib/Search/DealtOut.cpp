//===- DealtOut.cpp - strategies in other orders of devices ---------------===//

#include "DealtOut.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Of many devices, only so many blocks and fewer are dealt out.
static constexpr int64_t kMostBlocks = 64;

DealtOut::DealtOut(const Space &space, const std::vector<Choice> &pinned,
                   const std::vector<int64_t> &room, Walker &walker)
    : space(space), isPinned(space.graph().ops.size()), room(room),
      walker(walker) {
  for (const Choice &pin : pinned)
    isPinned[pin.op] = true;
}

bool DealtOut::isWorthwhile(const Baseline &strategy) const {
  const auto devices = static_cast<size_t>(space.numDevices());
  return std::any_of(
      space.anchors().begin(), space.anchors().end(), [&](OpId anchor) {
        return strategy.strategy[anchor].devices.size() < devices;
      });
}

std::vector<DealtOut::Order> DealtOut::orders() const {
  const int64_t devices = space.numDevices();
  std::vector<Order> result;
  for (int64_t unit : space.divisors())
    for (int64_t parts : divisorsOf(devices / unit))
      // With one block for each part all stay where they are.
      if (parts > 1 && unit * parts < devices && unit * kMostBlocks >= devices)
        result.push_back({unit, parts});
  return result;
}

/// The walker's strategy in that order; nothing if the space does not allow it.
std::vector<Choice> DealtOut::dealt(const Order &order) const {
  const auto [unit, parts] = order;
  std::vector<Choice> choices;
  for (OpId anchor : space.anchors()) {
    Choice choice = walker.choice(anchor);
    if (isPinned[anchor])
      continue;
    for (DeviceId &device : choice.config.devices) {
      const int64_t block = device / unit;
      device =
          static_cast<DeviceId>(block % parts * (space.numDevices() / parts) +
                                block / parts * unit + device % unit);
    }
    if (!space.allows(anchor, choice.config))
      return {};
    choices.push_back(std::move(choice));
  }
  return choices;
}

std::optional<Baseline> DealtOut::best(const Baseline &strategy,
                                       const std::function<bool()> &goesOn) {
  Picoseconds least = strategy.quality.makespan;
  std::vector<Choice> found;
  std::string how;
  walker.assign(strategy.strategy);
  for (const Order &order : orders()) {
    if (!goesOn())
      break;
    std::vector<Choice> choices = dealt(order);
    if (choices.empty())
      continue;
    const Picoseconds time = walker.propose(choices, least - 1);
    walker.reject();
    if (time >= least)
      continue;
    least = time;
    found = std::move(choices);
    how = std::to_string(order.unit) + " to each of " +
          std::to_string(order.parts);
  }
  if (found.empty())
    return std::nullopt;
  walker.propose(found);
  walker.accept();
  return Baseline{strategy.name + ", dealt out by " + how, walker.strategy(),
                  qualityOf(walker, room)};
}
