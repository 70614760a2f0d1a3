//===- Population.cpp - chains that learn from each other -----------------===//

#include "Population.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// A repair that is not the last may make a proposal for so many of chains.
static constexpr int64_t kChainsForRepair = 4;
/// Answers that are kicked, and how often.
static constexpr size_t kKicked = 4, kRounds = 3;
/// Of the time that a search may take, what chains may.
static constexpr double kTimeOfChains = 0.9;

Population::Population(const Space &space, Walker &walker,
                       const Options &options, const std::vector<int64_t> &room,
                       std::function<bool(double)> stopped)
    : walker(walker), options(options), room(room), space(space),
      hasBranches(Branches(space.graph()).areWorthwhile()),
      stopped(std::move(stopped)), watch(walker, room, options.plannedBytes),
      repair(
          space, walker, options.pinned, [this] { return watch.seemsToFit(); },
          [this] { return !this->stopped(1); }),
      kicks(space, options, room, [this] { return !this->stopped(1); }) {}

void Population::note(const Strategy &strategy) {
  repair.note(strategy);
  if (!hasBranches)
    return;
  walker.assign(strategy);
  std::vector<Choice> choices;
  for (OpId anchor : space.anchors())
    choices.push_back(walker.choice(anchor));
  kicks.addKnown(std::move(choices));
}

void Population::run(int threads,
                     const std::function<void(const Chain &)> &report) {
  if (chains.empty())
    return;
  for (double share : {1.0 / 3, 2.0 / 3, 1.0}) {
    runChains(threads, share, report);
    improve(/*isLast=*/share == 1);
  }
}

/// Chains do not know of each other meanwhile, so that it does not matter which
/// thread runs which, and when.
void Population::runChains(int threads, double share,
                           const std::function<void(const Chain &)> &report) {
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t)
    others.emplace_back([=] { runShare(t, threads, share, nullptr); });
  runShare(0, threads, share, report);
  for (std::thread &other : others)
    other.join();
}

/// Every `threads`-th chain from `first` on, by turns, up to a share of what it
/// has to do, or of the time.
void Population::runShare(size_t first, size_t threads, double share,
                          const std::function<void(const Chain &)> &report) {
  // A large graph's proposal may take a second; the clock is looked at again
  // before the next one then.
  constexpr int64_t kMostAtOnce = 64;
  constexpr auto kLong = std::chrono::milliseconds(20);
  using Clock = std::chrono::steady_clock;
  auto isOver = [&] { return stopped(share * kTimeOfChains); };
  int64_t atOnce = 1;
  for (bool open = true; open && !isOver();) {
    open = false;
    const Clock::time_point start = Clock::now();
    for (size_t c = first; c < chains.size() && !isOver(); c += threads)
      open |= chains[c]->run(atOnce, share);
    atOnce = Clock::now() - start < kLong ? std::min(2 * atOnce, kMostAtOnce)
                                          : std::max<int64_t>(atOnce / 2, 1);
    if (report)
      report(*chains[first]);
  }
}

std::vector<Baseline> Population::answers() const {
  std::vector<Baseline> all;
  for (const auto &chain : chains)
    all.push_back({"chain", chain->best(), chain->bestQuality()});
  if (repaired)
    all.push_back(*repaired);
  std::stable_sort(all.begin(), all.end(),
                   [](const Baseline &a, const Baseline &b) {
                     return a.quality < b.quality;
                   });
  return all;
}

static bool isNearlyAsGood(const Quality &quality, const Quality &best) {
  return quality.fits() &&
         static_cast<double>(quality.makespan) <=
             (1 + kWorthwhile) * static_cast<double>(best.makespan);
}

/// The walker's strategy, if it is better: it may turn out not to fit.
void Population::keep() {
  Baseline found{"repaired", walker.strategy(), qualityOf(walker, room)};
  if (!repaired || found.quality < repaired->quality)
    repaired = std::move(found);
}

/// The walker's strategy and the best others, if there are any; then what is
/// best by now, with other random numbers in each round. Each time it takes
/// over what it can from the others.
void Population::kick(const std::vector<Baseline> &all, int64_t budget) {
  std::vector<Strategy> from{walker.strategy()};
  // The first one is what was repaired.
  for (size_t i = 1; i < kKicked && i < all.size(); ++i)
    if (all[i].quality.fits())
      from.push_back(all[i].strategy);
  for (uint64_t round = 0; round < kRounds && !stopped(1); ++round) {
    std::vector<Strategy> found = kicks.run(from, budget / kKicked, round);
    sortByTime(found);
    walker.assign(found.front());
    watch.restart();
    std::vector<const Strategy *> others;
    for (size_t i = 1; i < found.size(); ++i)
      others.push_back(&found[i]);
    repair.run(others, budget / kChainsForRepair, /*thoroughly=*/false);
    from.assign(kKicked, walker.strategy());
  }
}

void Population::sortByTime(std::vector<Strategy> &strategies) {
  std::vector<std::pair<Picoseconds, Strategy>> timed;
  for (Strategy &strategy : strategies) {
    walker.assign(strategy);
    timed.push_back({walker.makespan(), std::move(strategy)});
  }
  std::stable_sort(
      timed.begin(), timed.end(),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  for (size_t i = 0; i < timed.size(); ++i)
    strategies[i] = std::move(timed[i].second);
}

void Population::improve(bool isLast) {
  const std::vector<Baseline> all = answers();
  // What does not fit is not judged by its time.
  if (!all.front().quality.fits() || stopped(1))
    return;
  std::vector<const Strategy *> others;
  for (size_t i = 1; i < all.size(); ++i)
    others.push_back(&all[i].strategy);
  int64_t made = 0;
  for (const auto &chain : chains)
    made += chain->proposals();
  walker.assign(all.front().strategy);
  watch.restart();
  repair.run(others, isLast ? made : made / kChainsForRepair,
             /*thoroughly=*/isLast);
  keep();
  if (isLast && made / static_cast<int64_t>(kKicked) >=
                    static_cast<int64_t>(space.anchors().size())) {
    const Picoseconds before = walker.makespan();
    kick(all, made);
    if (repair.regroup(made))
      kick({}, made);
    if (walker.makespan() < before) {
      repair.run({}, made, /*thoroughly=*/true);
      keep();
    }
  }
  for (const auto &chain : chains)
    if (!isLast && !isNearlyAsGood(chain->bestQuality(), repaired->quality))
      chain->goOnFrom(*repaired);
}

void Population::addCounts(Result &result) const {
  for (const auto &chain : chains) {
    result.proposals += chain->proposals();
    result.accepted += chain->accepted();
    const std::vector<MoveCount> &counts = chain->moveCounts();
    result.moves.resize(counts.size());
    for (size_t m = 0; m < counts.size(); ++m) {
      result.moves[m].name = counts[m].name;
      result.moves[m].proposed += counts[m].proposed;
      result.moves[m].accepted += counts[m].accepted;
    }
  }
  if (chains.empty())
    return;
  for (const MoveCount &count : repair.counts())
    result.moves.push_back(count);
  result.moves.push_back(kicks.count());
  result.repairProposals = repair.proposals() + kicks.proposals();
}
