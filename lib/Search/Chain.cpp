//===- Chain.cpp - one Markov chain over strategies -----------------------===//

#include "Chain.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Proposals without progress after which a chain goes back to its best.
static constexpr int64_t kMostAway = 10000;

/// Options::alpha where few anchors would make it less. With a third of it, as
/// for LeNet, nearly half of all proposals are taken on eight devices.
static constexpr double kLeastAlpha = 1;

/// Proposals for each candidate before which no chain ends early, and the most
/// of them in all; and which gains, as a share of the time of a step, are worth
/// waiting for. An anchor has about as many candidates as the square of the
/// number of devices: blocks of 1, 2, ... devices at all of their places, split
/// in some ways each.
static constexpr int64_t kProposalsForCandidate = 48, kMostPatience = 24000;
static constexpr Picoseconds kShareOfGain = 1000;

/// While nothing fits, every proposal takes an account of the memory of all
/// operators on all devices. After so many of these together a chain leaves it
/// to pipelines and recomputation: some seconds of it.
static constexpr int64_t kMostAccounted = 20'000'000;

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

/// The share that strategies hardly exceed, if that is little.
static std::optional<double> loadOfAny(const Walker &walker,
                                       const std::vector<int64_t> &room) {
  const double most =
      static_cast<double>(walker.memoryCeiling()) /
      static_cast<double>(*std::min_element(room.begin(), room.end()));
  return most < kSurelyFits ? std::optional<double>(most) : std::nullopt;
}

double search::boundedLoad(Walker &walker, const std::vector<int64_t> &room) {
  const std::optional<double> most = loadOfAny(walker, room);
  return most ? *most : shareOf(walker.memory(), room);
}

double search::neededLoad(
    Walker &walker, const std::vector<int64_t> &room,
    const std::function<std::vector<int64_t>(const Strategy &)> &planned) {
  const std::optional<double> most = loadOfAny(walker, room);
  return most ? *most : shareOf(neededBytes(walker, room, planned), room);
}

double search::alphaFor(size_t anchors) {
  return std::max(kLeastAlpha, static_cast<double>(anchors) / 16);
}

Picoseconds search::drawLimit(Random &random, Picoseconds makespan,
                              double alpha) {
  double uphill =
      -std::log(random.unit()) * static_cast<double>(makespan) / (100 * alpha);
  return makespan + static_cast<Picoseconds>(
                        std::min(uphill, static_cast<double>(kMaxCost)));
}

Chain::Chain(const Space &space, SegmentTable &table, const Options &options,
             const std::vector<int64_t> &room, int64_t budget, bool mayEndEarly,
             uint64_t seed, const Baseline &start)
    : options(options), room(room), walker(space, table), random(seed),
      moves(space, options.pinned), budget(budget), mayEndEarly(mayEndEarly),
      bestStrategy(start.strategy), quality(start.quality),
      load(start.quality.load) {
  walker.assign(start.strategy);
  const auto anchors = static_cast<int64_t>(moves.size());
  const int64_t devices = space.numDevices();
  points = static_cast<int64_t>(space.graph().ops.size()) * devices;
  patience = std::min(kProposalsForCandidate * anchors * devices * devices,
                      kMostPatience);
  alpha = options.alpha.value_or(alphaFor(moves.size()));
}

void Chain::goOnFrom(const Baseline &better) {
  walker.assign(better.strategy);
  bestStrategy = better.strategy;
  quality = better.quality;
  load = quality.load;
  lastBest = made;
}

void Chain::keepBest(double load) {
  Quality found{walker.makespan(), load};
  if (!(found < quality))
    return;
  if (!quality.fits() ||
      quality.makespan - found.makespan >= quality.makespan / kShareOfGain)
    lastGain = made;
  quality = found;
  bestStrategy = walker.strategy();
  lastBest = made;
}

bool Chain::step(const std::vector<NumberedChoice> &choices) {
  const Picoseconds limit = drawLimit(random, walker.makespan(), alpha);
  if (walker.proposeNumbered(choices, limit) > limit) {
    walker.reject();
    return false;
  }
  walker.accept();
  // Memory takes longer than time, and only matters for what is faster.
  if (walker.makespan() < quality.makespan)
    keepBest(neededLoad(walker, room));
  return true;
}

bool Chain::stepToFit(const std::vector<NumberedChoice> &choices) {
  walker.proposeNumbered(choices);
  const double next = neededLoad(walker, room);
  if (next > load && !random.oneIn(50)) {
    walker.reject();
    return false;
  }
  walker.accept();
  load = next;
  keepBest(load);
  return true;
}

bool Chain::hasEnded(double share) const {
  if (mayEndEarly && !quality.fits() && made * points >= kMostAccounted)
    return true;
  const int64_t least = mayEndEarly ? std::min(budget, patience) : budget;
  if (share < 1)
    return static_cast<double>(made) >= share * static_cast<double>(least);
  return made >= least &&
         made >=
             std::min(budget, mayEndEarly ? lastGain + lastGain / 2 : budget);
}

bool Chain::run(int64_t proposals, double share) {
  std::vector<NumberedChoice> choices;
  if (moves.size() == 0)
    return false;
  for (; proposals > 0 && !hasEnded(share); --proposals) {
    ++made;
    MoveCount &count = counts[moves.propose(walker, random, choices)];
    ++count.proposed;
    if (quality.fits() ? step(choices) : stepToFit(choices)) {
      ++count.accepted;
      ++taken;
    }
    if (made - lastBest > std::min(budget / 4, kMostAway)) {
      walker.assign(bestStrategy);
      load = quality.load;
      lastBest = made;
    }
  }
  return !hasEnded(share);
}
