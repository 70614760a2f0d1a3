//===- Recipes.cpp - trying what experts would write ----------------------===//

#include "Recipes.h"

#include "Chain.h"
#include "ffc/Plan/StrategyFile.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Reports name it in any case.
static constexpr char kDataParallel[] = "data-parallel";

Recipes::Recipes(const Space &space, const std::vector<Choice> &pinned,
                 const std::vector<int64_t> &room, Walker &walker,
                 const std::function<bool(Picoseconds)> &goesOn,
                 const std::vector<std::string> &names)
    : theSpace(space), room(room), walker(walker), goesOn(goesOn), names(names),
      theRoles(space) {
  for (const Choice &pin : pinned)
    pins.insert({pin.op, pin});
}

bool Recipes::areAllPinned() const {
  return !pins.empty() && pins.size() >= theSpace.anchors().size();
}

Picoseconds
Recipes::addSeries(const std::vector<int64_t> &sizes, Picoseconds hopeless,
                   const std::function<Picoseconds(int64_t)> &addOne) {
  Picoseconds before = 0, best = 0;
  for (int64_t size : sizes) {
    const Picoseconds time = addOne(size);
    if (time > before && time / hopeless > bestThatFits())
      break;
    before = time;
    if (time > 0)
      best = best == 0 ? time : std::min(best, time);
  }
  return best;
}

Picoseconds
Recipes::addSeries(const std::vector<int64_t> &outer,
                   const std::function<std::vector<int64_t>(int64_t)> &inner,
                   const std::function<Picoseconds(int64_t, int64_t)> &addOne) {
  return addSeries(outer, kSlower, [&](int64_t size) {
    return addSeries(inner(size), kSlower,
                     [&](int64_t other) { return addOne(size, other); });
  });
}

/// The data-parallel one is known in any case: reports compare with it.
Picoseconds Recipes::limitOf(const std::string &name) const {
  const Picoseconds best = bestThatFits();
  return name == kDataParallel || best > kNoLimit / kHopeless
             ? kNoLimit
             : kHopeless * best;
}

/// Of the walker's strategy. Whether what is slower than what fits does itself
/// is not worth planning it, and where it is much slower, not worth an account.
Quality Recipes::quality(const std::string &name) {
  const Picoseconds time = walker.makespan(), best = bestThatFits();
  if (time < best)
    return qualityOf(walker, room);
  if (!isNear(time, best) && name != kDataParallel)
    return {time, Quality::kNotAsked};
  return {time, boundedLoad(walker, room)};
}

Picoseconds Recipes::bestSoFar() const {
  return std::min_element(result.begin(), result.end(),
                          [](const Baseline &a, const Baseline &b) {
                            return a.quality < b.quality;
                          })
      ->quality.makespan;
}

Picoseconds Recipes::bestThatFits() const {
  Picoseconds best = kNoLimit;
  for (const Baseline &baseline : result)
    if (baseline.quality.fits())
      best = std::min(best, baseline.quality.makespan);
  return best;
}

std::vector<Choice> Recipes::choicesOf(const ConfigOf &configOf,
                                       bool sharded) const {
  PartialStrategy given(graph().ops.size());
  for (OpId anchor : theSpace.anchors()) {
    auto pin = pins.find(anchor);
    given[anchor] = pin == pins.end() ? configOf(anchor) : pin->second.config;
  }
  // Only what follows has to be found out.
  const bool isComplete =
      std::all_of(theSpace.anchors().begin(), theSpace.anchors().end(),
                  [&](OpId anchor) { return given[anchor].has_value(); });
  const Strategy completed =
      isComplete ? Strategy() : completeStrategy(graph(), given);
  std::vector<Choice> choices;
  for (OpId anchor : theSpace.anchors()) {
    if (auto pin = pins.find(anchor); pin != pins.end()) {
      choices.push_back(pin->second);
      continue;
    }
    Choice choice{anchor, isComplete ? *given[anchor] : completed[anchor],
                  sharded ? theSpace.options(anchor) : ChoiceOptions()};
    if (!theSpace.allows(anchor, choice.config))
      choice.config = Configuration::onDevice(0);
    choices.push_back(std::move(choice));
  }
  return choices;
}

Picoseconds Recipes::add(const std::string &name, const ConfigOf &configOf,
                         bool sharded) {
  if (isOver)
    return kNoLimit;
  if (!names.empty() &&
      std::find(names.begin(), names.end(), name) == names.end())
    return 0;
  ++tried;
  const Picoseconds limit = limitOf(name);
  const Picoseconds time = walker.propose(choicesOf(configOf, sharded), limit);
  if (time > limit) {
    walker.reject();
  } else {
    walker.accept();
    note(name);
  }
  isOver =
      goesOn && !goesOn(bestSoFar()) && tried > 1 && bestThatFits() != kNoLimit;
  return time;
}

Picoseconds Recipes::addWithUpdates(const std::string &name,
                                    const ConfigOf &configOf, bool canShare) {
  const Picoseconds time = add(name, configOf);
  return canShare ? std::min(time, add(name + ", sharded updates", configOf,
                                       /*sharded=*/true))
                  : time;
}

/// The walker's strategy, once.
void Recipes::note(const std::string &name) {
  Strategy strategy = walker.strategy();
  if (std::none_of(result.begin(), result.end(), [&](const Baseline &other) {
        return other.strategy == strategy;
      }))
    result.push_back({name, std::move(strategy), quality(name)});
}

std::string search::numberOfDevices(int64_t count) {
  return std::to_string(count) + (count == 1 ? " device" : " devices");
}

std::string search::nameOf(const TensorGrid &grid) {
  if (grid.group * grid.other == 1)
    return kDataParallel;
  return "tensor " + std::to_string(grid.group) +
         (grid.other > 1 ? " x " + std::to_string(grid.other) : "") +
         (grid.samples > 1 ? " x data " + std::to_string(grid.samples) : "");
}
