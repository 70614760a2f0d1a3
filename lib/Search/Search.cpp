//===- Search.cpp - finds a strategy --------------------------------------===//

#include "ffc/Search/Search.h"

#include "DealtOut.h"
#include "Population.h"
#include "Speeds.h"
#include "ffc/Search/CommunicationBound.h"
#include "ffc/Search/Elimination.h"

#include "ffc/Plan/ScheduledStep.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

using Clock = std::chrono::steady_clock;

/// The budget of a search that ends by the clock.
constexpr int64_t kEndless = int64_t(1) << 60;
/// Of many devices, a proposal may take a second.
constexpr int64_t kLeastBudget = 12;
/// From so many operators on, the budget shrinks.
constexpr double kManyOps = 8192;
/// Of so many operators there has to be a proposal.
constexpr int64_t kOpsForProposal = 1000;
/// Strategies that chains start from.
constexpr size_t kStarts = 4;
/// Candidates of dynamic programming for an operator, times devices.
constexpr int kEliminated = 256;
/// Of many operators it is given up where it needs so many segments that
/// nothing else has met: some seconds of it. Where layers are alike, there are
/// few.
constexpr size_t kMostEliminated = 30'000;

class Run {
public:
  Run(const Graph &graph, const Topology &topology, const CostModel &cost,
      const Options &options)
      : begin(Clock::now()),
        space(graph, topology.numDevices(), options.forFlexFlow,
              options.forFlexFlow ? std::vector<double>()
                                  : deviceSpeeds(graph, topology, cost)),
        narrow(graph, topology.numDevices(), /*forFlexFlow=*/true), cost(cost),
        options(options),
        budget(options.budget.value_or(
            options.seconds > 0
                ? kEndless
                : defaultBudget(topology.numDevices(), graph.ops.size()))),
        walker(space, tableOf(0)),
        population(space, walker, options, room,
                   [this](double share) { return stopped(share); }) {
    for (DeviceId d = 0; d < topology.numDevices(); ++d)
      room.push_back(topology.kindOf(d).memoryBytes);
    // The bound is one of the roofline.
    if (!cost.profile())
      bounds = std::async(
          numThreads() > 1 ? std::launch::async : std::launch::deferred,
          [&graph = space.graph(), topology = &topology,
           // It takes every device for one that receives what it adds up.
           communicates = !cost.switchesAdd()] {
            const Picoseconds alone = lowerBound(graph, *topology);
            return std::pair(alone, communicates ? communicationBound(
                                                       graph, *topology, alone)
                                                 : alone);
          });
  }

  Result run() {
    tryBaselines();
    if (mayMove()) {
      if (!isLeft()) {
        eliminate();
        dealOut();
      }
      if (!isLeft() && isWorthChains())
        makeChains();
      result.isFarOff = isLeft();
    }
    population.run(numThreads(), [&](const Chain &chain) { report(chain); });
    population.addCounts(result);
    takeBest();
    if (bounds.valid())
      std::tie(result.bound, result.boundWithCommunication) = bounds.get();
    result.seconds = secondsSinceStart();
    return std::move(result);
  }

private:
  std::vector<int64_t> bytesOf() {
    return neededBytes(walker, room, options.plannedBytes);
  }

  /// The best that fits when it is planned, or the one that comes closest.
  void takeBest() {
    std::vector<std::pair<Quality, const Strategy *>> found;
    for (const std::vector<Baseline> *known :
         {&result.baselines, &result.dealtOut})
      for (const Baseline &baseline : *known)
        found.push_back({baseline.quality, &baseline.strategy});
    if (result.elimination)
      found.push_back(
          {result.elimination->quality, &result.elimination->strategy});
    result.answers = population.answers();
    for (const Baseline &answer : result.answers)
      found.push_back({answer.quality, &answer.strategy});
    std::stable_sort(
        found.begin(), found.end(),
        [](const auto &a, const auto &b) { return a.first < b.first; });
    for (auto &[quality, strategy] : found) {
      walker.assign(*strategy);
      const std::vector<int64_t> bytes = bytesOf();
      quality.load = shareOf(bytes, room);
      if (result.strategy.empty() || quality < result.quality) {
        result.quality = quality;
        result.strategy = *strategy;
        result.bytes = *std::max_element(bytes.begin(), bytes.end());
      }
      if (quality.fits())
        break;
    }
    considerBaseline();
    walker.assign(result.strategy);
    result.memory = walker.largestMemory();
  }

  void considerBaseline() {
    const Baseline &first = result.baselines.front();
    if (static_cast<double>(first.quality.makespan) >
        (1 + kWorthwhile) * static_cast<double>(result.quality.makespan))
      return;
    walker.assign(first.strategy);
    result.takesBaseline = shareOf(bytesOf(), room) <= 1;
  }

  double secondsSinceStart() const {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  void tryBaselines() {
    result.baselines = baselines(
        space, options.pinned, room, walker,
        [&](Picoseconds best) { return goesOn("recipes", best); },
        options.recipes);
    if (options.start) {
      walker.assign(*options.start);
      result.baselines.push_back(
          {"given", *options.start, qualityOf(walker, room)});
    }
    sort(result.baselines);
    accountForReported();
  }

  /// What reports name, they say of whether it fits.
  void accountForReported() {
    for (size_t i = 0; i < std::min(kReported, result.baselines.size());) {
      Quality &quality = result.baselines[i].quality;
      if (quality.load != Quality::kNotAsked) {
        ++i;
        continue;
      }
      walker.assign(result.baselines[i].strategy);
      quality.load = boundedLoad(walker, room);
      sort(result.baselines);
      i = 0;
    }
  }

  static void sort(std::vector<Baseline> &strategies) {
    std::stable_sort(strategies.begin(), strategies.end(),
                     [](const Baseline &a, const Baseline &b) {
                       return a.quality < b.quality;
                     });
  }

  bool mayMove() const {
    return budget >= options.chains && space.numDevices() > 1 && !stopped() &&
           (options.recipesWithin == 0 ||
            result.baselines.front().quality.makespan <= options.recipesWithin);
  }

  /// The more devices, the longer each reshard takes to plan, and the fewer
  /// candidates there are; too few are not worth it.
  void eliminate() {
    size_t most = static_cast<size_t>(
        std::min(kEliminated / space.numDevices(), options.candidates));
    if (most < kStarts)
      return;
    std::vector<Strategy> known;
    for (size_t b = 0; b < std::min(kStarts, result.baselines.size()); ++b)
      known.push_back(result.baselines[b].strategy);
    const Picoseconds best = result.baselines.front().quality.makespan;
    const size_t before = tableOf(0).numSegments();
    const bool isLarge =
        static_cast<double>(space.graph().ops.size()) > kManyOps;
    std::optional<EliminationProblem> problem =
        eliminationProblem(space, tableOf(0), known, options.pinned, most, [&] {
          return (isLarge &&
                  tableOf(0).numSegments() - before > kMostEliminated) ||
                 !goesOn("dynamic programming", best);
        });
    if (!problem)
      return;
    AdditiveSolution solution = solve(problem->costs);
    std::vector<Choice> choices;
    for (size_t n = 0; n < space.anchors().size(); ++n)
      choices.push_back(
          {space.anchors()[n], problem->candidates[n][solution.choice[n]]});
    // Its cost is that of updates as they are.
    for (bool sharded : {false, true}) {
      for (Choice &choice : choices)
        choice.options = sharded ? space.options(choice.op) : ChoiceOptions();
      walker.propose(choices);
      walker.accept();
      Quality quality = qualityOf(walker, room);
      if (!result.elimination || quality < result.elimination->quality)
        result.elimination = {"dynamic programming", walker.strategy(),
                              quality};
    }
    if (!solution.isOptimal)
      result.beamAnchors = solution.irreducible;
  }

  /// Dynamic programming's answer and the best recipes, if they are near the
  /// best one.
  void dealOut() {
    DealtOut dealtOut(space, options.pinned, room, walker);
    std::vector<const Baseline *> from;
    auto add = [&](const Baseline &strategy) {
      if (from.size() < kStarts && dealtOut.isWorthwhile(strategy) &&
          isNear(strategy.quality, result.baselines.front().quality))
        from.push_back(&strategy);
    };
    if (result.elimination)
      add(*result.elimination);
    for (const Baseline &baseline : result.baselines)
      add(baseline);
    for (const Baseline *strategy : from)
      if (std::optional<Baseline> best = dealtOut.best(*strategy, [&] {
            return goesOn("orders of devices",
                          result.baselines.front().quality.makespan);
          }))
        result.dealtOut.push_back(std::move(*best));
    sort(result.dealtOut);
  }

  /// The best of dynamic programming's answer and the recipes, and others
  /// nearly as good that are not mostly the same as a better one.
  std::vector<const Baseline *> starts() const {
    std::vector<const Baseline *> all, different;
    if (result.elimination)
      all.push_back(&*result.elimination);
    for (const Baseline &dealt : result.dealtOut)
      all.push_back(&dealt);
    for (const Baseline &baseline : result.baselines)
      all.push_back(&baseline);
    std::stable_sort(all.begin(), all.end(),
                     [](const Baseline *a, const Baseline *b) {
                       return a->quality < b->quality;
                     });
    for (const Baseline *start : all)
      if (different.size() < kStarts &&
          isNear(start->quality, all[0]->quality) &&
          std::none_of(different.begin(), different.end(),
                       [&](const Baseline *other) {
                         return isAlike(start->strategy, other->strategy);
                       }))
        different.push_back(start);
    return different;
  }

  static bool isNear(const Quality &quality, const Quality &best) {
    return quality.fits() == best.fits() &&
           search::isNear(quality.makespan, best.makespan);
  }

  /// Are more than half of the anchors split alike, on whatever devices?
  bool isAlike(const Strategy &a, const Strategy &b) const {
    const std::vector<OpId> &anchors = space.anchors();
    const auto same =
        std::count_if(anchors.begin(), anchors.end(), [&](OpId anchor) {
          return a[anchor].axes == b[anchor].axes;
        });
    return static_cast<size_t>(same) > anchors.size() / 2;
  }

  /// A few proposals find nothing among very many operators, of which every
  /// chain keeps all.
  bool isWorthChains() const {
    return options.budget || options.seconds > 0 ||
           budget * kOpsForProposal >=
               static_cast<int64_t>(space.graph().ops.size());
  }

  bool isLeft() const {
    return options.leavesFarOff && isFarOff(starts().front()->quality,
                                            space.graph(), space.numDevices());
  }

  /// They take the starts in turn. Half of them keep to the narrow space, where
  /// one move changes what takes several in the whole one.
  void makeChains() {
    const std::vector<const Baseline *> starts = this->starts();
    const int numNarrow = options.pinned.empty() ? options.chains / 2 : 0;
    for (int c = 0; c < options.chains; ++c)
      population.add(std::make_unique<Chain>(
          c >= options.chains - numNarrow ? narrow : space,
          tableOf(c % numThreads()), options, room, budget / options.chains,
          /*mayEndEarly=*/!options.budget && options.seconds == 0,
          options.seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(c),
          *starts[static_cast<size_t>(c) % starts.size()]));
    for (int t = 0; t < numThreads(); ++t)
      population.addThread(tableOf(t));
    for (const std::vector<Baseline> *known :
         {&result.baselines, &result.dealtOut})
      for (const Baseline &baseline : *known)
        if (isNear(baseline.quality, starts.front()->quality))
          population.note(baseline.strategy);
    if (result.elimination)
      population.note(result.elimination->strategy);
  }

  /// Reports where the search is before it makes proposals; false: it is over.
  bool goesOn(const char *phase, Picoseconds best) const {
    if (options.progress) {
      Progress progress;
      progress.phase = phase;
      progress.best = best;
      options.progress(progress);
    }
    return !stopped();
  }

  /// By hand, or when a share of the time is over.
  bool stopped(double share = 1) const {
    return (options.stop && *options.stop) ||
           (options.seconds > 0 &&
            secondsSinceStart() >= share * options.seconds);
  }

  int numThreads() const {
    const int threads = options.threads
                            ? options.threads
                            : int(std::thread::hardware_concurrency());
    return std::clamp(threads, 1, std::max(options.chains, 1));
  }

  /// The segments of a thread: what recipes, dynamic programming or one of its
  /// chains has met is known to all.
  SegmentTable &tableOf(int thread) {
    while (tables.size() <= static_cast<size_t>(thread))
      tables.push_back(std::make_unique<SegmentTable>(
          space.graph(), space.numDevices(), cost));
    return *tables[thread];
  }

  /// Chains are about equally far; the first one stands for all.
  void report(const Chain &chain) {
    if (!options.progress)
      return;
    Progress progress;
    progress.best =
        std::min(chain.bestQuality(), result.baselines.front().quality)
            .makespan;
    progress.current = chain.current();
    progress.proposals = chain.proposals() * options.chains;
    progress.accepted = chain.accepted() * options.chains;
    progress.share = static_cast<double>(progress.proposals) /
                     static_cast<double>(std::max<int64_t>(budget, 1));
    if (options.seconds > 0)
      progress.share =
          std::max(progress.share, secondsSinceStart() / options.seconds);
    options.progress(progress);
  }

  /// Before all else, which takes its time too.
  Clock::time_point begin;
  Space space;
  /// What FlexFlow can say of it: fewer anchors, which more follows.
  Space narrow;
  const CostModel &cost;
  const Options &options;
  int64_t budget;
  std::vector<int64_t> room;
  std::vector<std::unique_ptr<SegmentTable>> tables; ///< by thread
  Walker walker;
  Population population;
  Result result;
  /// Result::bound and boundWithCommunication, which nothing waits for.
  std::future<std::pair<Picoseconds, Picoseconds>> bounds;
};

} // namespace

Quality search::qualityOf(Walker &walker, const std::vector<int64_t> &room) {
  return {walker.makespan(), neededLoad(walker, room)};
}

bool search::isFarOff(const Quality &quality, const Graph &graph,
                      int numDevices) {
  return quality.load > kFarOff &&
         static_cast<int64_t>(graph.ops.size()) * numDevices >
             kMostPlannedPoints;
}

int64_t search::defaultBudget(int numDevices, size_t numOps) {
  const double devices = numDevices, ops = static_cast<double>(numOps);
  const double budget = std::min(480000 / devices, 20.48e6 / devices / devices);
  const double factor = std::clamp(std::sqrt(1000 / ops), 1.0, 4.0);
  // Of very many operators, a proposal takes a time that grows with them, and
  // so do recipes and dynamic programming, with which chains begin and which
  // find most of what there is where blocks are alike. So steep that twice as
  // many as kManyOps take seconds.
  const double share = std::pow(std::min(1.0, kManyOps / ops), 6);
  return std::max(static_cast<int64_t>(budget * factor * share), kLeastBudget);
}

Result search::searchStrategy(const Graph &graph, const Topology &topology,
                              const CostModel &cost, const Options &options) {
  return Run(graph, topology, cost, options).run();
}
