//===- DealtOut.cpp - strategies in other orders of devices ---------------===//

#include "DealtOut.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Of many devices, only so many blocks and fewer are dealt out.
static constexpr int64_t kMostBlocks = 64;

bool DealtOut::isWorthwhile(const Baseline &strategy) const {
  const auto devices = static_cast<size_t>(space.numDevices());
  return std::any_of(
      space.anchors().begin(), space.anchors().end(), [&](OpId anchor) {
        return strategy.strategy[anchor].devices.size() < devices;
      });
}

/// The walker's strategy with blocks of `unit` devices dealt out.
std::vector<Choice> DealtOut::dealt(int64_t unit, int64_t parts) const {
  std::vector<Choice> choices;
  for (OpId anchor : space.anchors()) {
    Choice choice = walker.choice(anchor);
    if (std::none_of(pinned.begin(), pinned.end(),
                     [&](const Choice &pin) { return pin.op == anchor; }))
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
  const int64_t devices = space.numDevices();
  Picoseconds least = strategy.quality.makespan;
  std::vector<Choice> found;
  std::string how;
  walker.assign(strategy.strategy);
  for (int64_t unit : space.divisors())
    for (int64_t parts : divisorsOf(devices / unit)) {
      // With one block for each part all stay where they are.
      if (parts == 1 || unit * parts == devices || unit * kMostBlocks < devices)
        continue;
      if (!goesOn())
        break;
      std::vector<Choice> choices = dealt(unit, parts);
      if (choices.empty())
        continue;
      const Picoseconds time = walker.propose(choices, least - 1);
      walker.reject();
      if (time >= least)
        continue;
      least = time;
      found = std::move(choices);
      how = std::to_string(unit) + " to each of " + std::to_string(parts);
    }
  if (found.empty())
    return std::nullopt;
  walker.propose(found);
  walker.accept();
  return Baseline{strategy.name + ", dealt out by " + how, walker.strategy(),
                  qualityOf(walker, room)};
}
