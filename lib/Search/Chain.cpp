//===- Chain.cpp - one Markov chain over strategies -----------------------===//

#include "Chain.h"

#include <algorithm>
#include <cmath>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Proposals without progress after which a chain goes back.
static constexpr int64_t kPatience = 10000;

/// Plans have been found to need up to 1.3 times their bound.
static constexpr double kSurelyFits = 0.5;

double search::shareOf(const std::vector<int64_t> &bytes,
                       const std::vector<int64_t> &room) {
  double load = 0;
  for (size_t d = 0; d < bytes.size(); ++d)
    load = std::max(load, static_cast<double>(bytes[d]) /
                              static_cast<double>(room[d]));
  return load;
}

std::vector<int64_t> search::neededBytes(
    Walker &walker, const std::vector<int64_t> &room,
    const std::function<std::vector<int64_t>(const Strategy &)> &planned) {
  std::vector<int64_t> bound = walker.memory();
  const double share = shareOf(bound, room);
  if (share < kSurelyFits || share > 1)
    return bound;
  return planned ? planned(walker.strategy()) : walker.plannedMemory();
}

Chain::Chain(const Space &space, const CostModel &cost, const Options &options,
             const std::vector<int64_t> &room, int64_t budget, uint64_t seed,
             const Baseline &start)
    : space(space), options(options), room(room), walker(space, cost),
      random(seed), budget(budget), bestStrategy(start.strategy),
      quality(start.quality), load(start.quality.load) {
  walker.assign(start.strategy);
  for (size_t i = 0; i < space.anchors().size(); ++i)
    if (std::none_of(
            options.pinned.begin(), options.pinned.end(),
            [&](const Choice &pin) { return pin.op == space.anchors()[i]; }))
      open.push_back(i);
  for (size_t i : open)
    if (space.hasUpdates(space.anchors()[i]))
      updated.push_back(space.anchors()[i]);
  alpha = options.alpha.value_or(static_cast<double>(open.size()) / 16);
}

/// All anchors, or a stretch of them, on more devices or on fewer. Between,
/// where only some of them are, values would have to move.
void Chain::resize(std::vector<Choice> &choices) {
  size_t begin = 0, end = open.size();
  if (random.oneIn(2)) {
    begin = static_cast<size_t>(random.below(int64_t(end)));
    end = begin + 1 + static_cast<size_t>(random.below(int64_t(end - begin)));
  }
  // Small factors are more likely than large ones.
  size_t divisor = 1;
  while (divisor + 1 < space.divisors().size() && random.oneIn(4))
    ++divisor;
  const int64_t factor = space.divisors()[divisor];
  const bool grows = random.oneIn(2);
  for (size_t i = begin; i < end; ++i) {
    Choice now = walker.choice(space.anchors()[open[i]]);
    if (auto config = grows ? space.grown(now.op, now.config, factor)
                            : space.shrunk(now.op, now.config, factor))
      choices.push_back({now.op, *std::move(config), now.sharded});
  }
}

/// One of six moves: a random candidate for one anchor; sharded updates or
/// not; a neighbour's configuration; a candidate for all layers alike; a
/// candidate that a stretch of neighbours takes over; more or fewer devices.
void Chain::propose(std::vector<Choice> &choices) {
  choices.clear();
  const std::vector<OpId> &anchors = space.anchors();
  int64_t kind = random.below(updated.empty() ? 9 : 10);
  if (kind == 8)
    return resize(choices);
  if (kind == 9) {
    choices.push_back(walker.choice(
        updated[static_cast<size_t>(random.below(int64_t(updated.size())))]));
    choices.back().sharded ^= true;
    return;
  }
  size_t at = static_cast<size_t>(random.below(int64_t(open.size())));
  OpId anchor = anchors[open[at]];
  auto carry = [&](const Choice &from, OpId to) {
    Configuration config =
        carryOverByName(space.graph(), from.op, from.config, to);
    if (space.allows(to, config))
      choices.push_back({to, std::move(config), from.sharded});
  };
  auto candidate = [&]() -> Choice {
    return {anchor, space.candidate(anchor, random),
            walker.choice(anchor).sharded};
  };
  if (kind < 3 || open.size() == 1) {
    choices.push_back(candidate());
  } else if (kind < 5) {
    // The one before or after.
    size_t other =
        at == 0 || (at + 1 < open.size() && random.oneIn(2)) ? at + 1 : at - 1;
    carry(walker.choice(anchors[open[other]]), anchor);
  } else if (kind < 6) {
    Choice alike = candidate();
    for (size_t i : open)
      if (std::binary_search(space.alike(open[at]).begin(),
                             space.alike(open[at]).end(), anchors[i]))
        choices.push_back({anchors[i], alike.config, alike.sharded});
  } else {
    Choice first = candidate();
    // Short stretches are as likely as long ones.
    int64_t most = 1;
    while (most < int64_t(open.size()) && !random.oneIn(2))
      most *= 2;
    size_t last = std::min(open.size(), at + 1 + size_t(random.below(most)));
    choices.push_back(first);
    for (size_t i = at + 1; i < last; ++i)
      carry(first, anchors[open[i]]);
  }
}

Picoseconds Chain::drawLimit() {
  double uphill = -std::log(random.unit()) *
                  static_cast<double>(walker.makespan()) / (100 * alpha);
  return walker.makespan() + static_cast<Picoseconds>(std::min(
                                 uphill, static_cast<double>(kMaxCost)));
}

void Chain::keepBest(double load) {
  Quality found{walker.makespan(), load};
  if (!(found < quality))
    return;
  quality = found;
  bestStrategy = walker.strategy();
  lastBest = made;
}

void Chain::step(const std::vector<Choice> &choices) {
  Picoseconds limit = drawLimit();
  if (walker.propose(choices, limit) > limit)
    return walker.reject();
  walker.accept();
  ++taken;
  // Memory takes longer than time, and only matters for what is faster.
  if (walker.makespan() < quality.makespan)
    keepBest(shareOf(neededBytes(walker, room), room));
}

void Chain::stepToFit(const std::vector<Choice> &choices) {
  Strategy before = walker.strategy();
  walker.propose(choices);
  walker.accept();
  double next = shareOf(neededBytes(walker, room), room);
  if (next > load && !random.oneIn(50))
    return walker.assign(before);
  load = next;
  ++taken;
  keepBest(load);
}

bool Chain::run(int64_t proposals) {
  std::vector<Choice> choices;
  if (open.empty())
    return false;
  for (; proposals > 0 && made < budget; --proposals) {
    ++made;
    propose(choices);
    quality.fits() ? step(choices) : stepToFit(choices);
    if (made - lastBest > std::min(budget / 4, kPatience)) {
      walker.assign(bestStrategy);
      load = quality.load;
      lastBest = made;
    }
  }
  return made < budget;
}
