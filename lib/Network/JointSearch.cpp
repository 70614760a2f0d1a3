//===- JointSearch.cpp - strategy and network found together --------------===//

#include "ffc/Network/JointSearch.h"

#include "ffc/Network/InThreads.h"
#include "ffc/Network/StepEstimate.h"
#include "ffc/Network/Transport.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace ffc::network;

namespace {

struct Estimated {
  Picoseconds time = 0;
  Placement placement;
};

/// Simulated annealing on a network, and the best few strategies of it.
struct Chain {
  Placement from;
  EstimatedNetwork network;
  uint64_t seed;
  std::string way;
  std::vector<Estimated> elites = {}; ///< best first
  int64_t estimated = 0;              ///< strategies
};

class JointSearch {
public:
  JointSearch(const LayerSteps &steps, const LayerChoices &choices,
              const JointSearchOptions &options,
              const std::function<bool(const ffc::plan::Strategy &)> &fits,
              const NetworkJudge &searching, const NetworkJudge &last)
      : steps(steps), choices(choices), options(options), fits(fits),
        searching(searching), last(last) {}

  /// Nothing, and no error, if no rough network has a step within `limit`.
  std::optional<FoundPair> run(Picoseconds limit, std::string &error);
  /// The least time on rough networks, before the first better one.
  Picoseconds roughTime() const { return rough; }

private:
  std::optional<TaskGraph> tasksOf(const Placement &placement,
                                   std::string &error) const;
  uint64_t seedOf(uint64_t chain) const {
    return options.seed + (chain << 32) * 0x9E3779B97F4A7C15u;
  }
  EstimatedNetwork onSwitch() const;
  EstimatedNetwork estimatedOn(const Network &network) const;
  void climb(Chain &chain) const;
  bool climbAll(std::vector<Chain> chains, std::string &error);
  bool offer(const Placement &placement, const std::string &way,
             std::string &error);
  bool findNetworks(std::string &error);
  void findBetterNetworks();
  bool searchOnSwitches(const std::vector<NamedPlacement> &starts,
                        std::string &error);
  std::optional<FoundTopology>
  networkFor(const JointPair &pair,
             const TopologySearchOptions &searchOptions) const;
  void insert(JointPair pair);
  Picoseconds lastTime(const JointPair &pair) const;
  void judgeAgain();

  const LayerSteps &steps;
  const LayerChoices &choices;
  const JointSearchOptions &options;
  const std::function<bool(const ffc::plan::Strategy &)> &fits;
  const NetworkJudge &searching, &last;
  std::set<Placement> seen;       ///< those that got networks, or do not fit
  std::vector<JointPair> waiting; ///< for a network
  std::vector<JointPair> pairs;   ///< best first
  Picoseconds rough = 0;          ///< roughTime()
  FoundPair result;
};

} // namespace

std::optional<TaskGraph> JointSearch::tasksOf(const Placement &placement,
                                              std::string &error) const {
  auto tasks = steps.tasksOf(choices.strategyOf(placement), error);
  if (!tasks)
    return std::nullopt;
  return std::move(tasks->graph);
}

EstimatedNetwork JointSearch::onSwitch() const {
  return {options.network.degree * options.network.bandwidth,
          options.network.latency, nullptr};
}

EstimatedNetwork JointSearch::estimatedOn(const Network &network) const {
  EstimatedNetwork on = onSwitch();
  on.network = &network;
  return on;
}

void JointSearch::climb(Chain &chain) const {
  std::string error;
  std::mt19937_64 random(chain.seed);
  std::vector<Estimated> &elites = chain.elites;
  auto keep = [&](const Estimated &one) {
    const auto at =
        std::find_if(elites.begin(), elites.end(), [&](const Estimated &other) {
          return one.time < other.time;
        });
    if (at == elites.end() && elites.size() == size_t(options.elites))
      return;
    elites.insert(at, one);
    if (elites.size() > size_t(options.elites))
      elites.pop_back();
  };
  const std::optional<TaskGraph> first = tasksOf(chain.from, error);
  if (!first)
    return;
  Estimated current = {estimateStep(*first, chain.network), chain.from};
  keep(current);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int64_t i = 0; i < options.strategies; ++i) {
    Placement placement = choices.propose(current.placement, random);
    if (placement == current.placement)
      continue;
    const std::optional<TaskGraph> graph = tasksOf(placement, error);
    if (!graph)
      continue;
    ++chain.estimated;
    const Estimated next = {estimateStep(*graph, chain.network),
                            std::move(placement)};
    // From 2 % uphill at first to none at the end.
    const double heat = 0.02 * (1 - double(i) / double(options.strategies));
    const double up = double(next.time) / double(current.time) - 1;
    if (up > 0 && (heat <= 0 || unit(random) >= std::exp(-up / heat)))
      continue;
    if (next.time < elites.back().time ||
        elites.size() < size_t(options.elites))
      keep(next);
    current = next;
  }
}

/// What they find waits for networks.
bool JointSearch::climbAll(std::vector<Chain> chains, std::string &error) {
  inThreads(chains.size(), [&](size_t i) { climb(chains[i]); });
  for (const Chain &chain : chains) {
    result.estimated += chain.estimated;
    for (const Estimated &one : chain.elites)
      if (!offer(one.placement, chain.way, error))
        return false;
  }
  return true;
}

/// Lets a strategy wait for a network. False with an error where there is none;
/// passed over is what does not fit into memory, and what not even a switch
/// would make faster than the best pair.
bool JointSearch::offer(const Placement &placement, const std::string &way,
                        std::string &error) {
  if (!seen.insert(placement).second)
    return true;
  JointPair pair;
  pair.placement = placement;
  pair.way = way;
  auto graph = tasksOf(placement, error);
  if (!graph)
    return false;
  pair.graph = std::move(*graph);
  pair.traffic = trafficOf(pair.graph);
  const TopologySearchOptions &network = options.network;
  if (!pairs.empty() &&
      std::max(estimateStep(pair.graph, onSwitch()),
               stepBound(pair.traffic, network.degree, network.kind,
                         network.bandwidth)) > pairs.front().topology.time)
    return true;
  if (fits(choices.strategyOf(placement)))
    waiting.push_back(std::move(pair));
  return true;
}

std::optional<FoundTopology>
JointSearch::networkFor(const JointPair &pair,
                        const TopologySearchOptions &searchOptions) const {
  return searchTopology(
      pair.traffic, searchOptions,
      [&](const Network &network, const std::vector<RingOrders> &rings) {
        return searching(divideAllReduces(pair.graph, pair.traffic, rings),
                         network);
      });
}

void JointSearch::insert(JointPair pair) {
  const auto at =
      std::find_if(pairs.begin(), pairs.end(), [&](const JointPair &other) {
        return pair.topology.time < other.topology.time;
      });
  pairs.insert(at, std::move(pair));
}

/// A rough one for each that waits. False with an error where there is none.
bool JointSearch::findNetworks(std::string &error) {
  TopologySearchOptions quick = options.network;
  quick.isRough = true;
  quick.leastDegree = quick.degree;
  quick.changes = 0;
  std::vector<std::optional<FoundTopology>> found(waiting.size());
  inThreads(found.size(),
            [&](size_t i) { found[i] = networkFor(waiting[i], quick); });
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) {
      error = "expected a degree of 2 or more, or one-way links: no network "
              "of " +
              std::to_string(waiting[i].traffic.numServers) +
              " servers with a single two-way link each is connected";
      return false;
    }
    ++result.pairs;
    result.tried += found[i]->tried;
    waiting[i].topology = std::move(*found[i]);
    insert(std::move(waiting[i]));
  }
  waiting.clear();
  return true;
}

/// For the best pairs, and the best start.
void JointSearch::findBetterNetworks() {
  std::vector<JointPair> chosen, others;
  bool hasStart = false;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const bool isBestStart = pairs[i].isStart && !hasStart;
    hasStart |= pairs[i].isStart;
    const bool isChosen =
        pairs[i].isRough && (i < size_t(options.best) || isBestStart);
    (isChosen ? chosen : others).push_back(std::move(pairs[i]));
  }
  pairs = std::move(others);
  std::vector<std::optional<FoundTopology>> found(chosen.size());
  inThreads(chosen.size(), [&](size_t i) {
    found[i] = networkFor(chosen[i], options.network);
  });
  for (size_t i = 0; i < chosen.size(); ++i) {
    chosen[i].isRough = false;
    result.tried += found[i] ? found[i]->tried : 0;
    if (found[i] && found[i]->time < chosen[i].topology.time)
      chosen[i].topology = std::move(*found[i]);
    insert(std::move(chosen[i]));
  }
}

Picoseconds JointSearch::lastTime(const JointPair &pair) const {
  return last(divideAllReduces(pair.graph, pair.traffic, pair.topology.rings),
              pair.topology.network);
}

/// By the last judge, the few that may be best by it, too.
void JointSearch::judgeAgain() {
  constexpr double kNear = 1.03;
  const double near = kNear * double(pairs.front().topology.time);
  size_t count = 0;
  while (count < pairs.size() && count < size_t(options.elites) &&
         double(pairs[count].topology.time) <= near)
    ++count;
  inThreads(count,
            [&](size_t i) { pairs[i].topology.time = lastTime(pairs[i]); });
  std::stable_sort(pairs.begin(), pairs.begin() + std::ptrdiff_t(count),
                   [](const JointPair &a, const JointPair &b) {
                     return a.topology.time < b.topology.time;
                   });
}

/// A switch favours no traffic.
bool JointSearch::searchOnSwitches(const std::vector<NamedPlacement> &starts,
                                   std::string &error) {
  std::vector<Chain> chains;
  for (size_t i = 0; i < starts.size(); ++i)
    chains.push_back({starts[i].placement, onSwitch(), seedOf(i),
                      "annealing from " + starts[i].name + " on a switch"});
  return climbAll(std::move(chains), error);
}

std::optional<FoundPair> JointSearch::run(Picoseconds limit,
                                          std::string &error) {
  const std::vector<NamedPlacement> starts = choices.starts();
  for (const NamedPlacement &start : starts)
    if (!offer(start.placement, start.name, error))
      return std::nullopt;
  for (JointPair &start : waiting)
    start.isStart = true;
  if (!findNetworks(error))
    return std::nullopt;
  if (pairs.empty()) {
    error = "no strategy to start from fits into the devices' memory";
    return std::nullopt;
  }
  if (!searchOnSwitches(starts, error) || !findNetworks(error))
    return std::nullopt;
  rough = pairs.front().topology.time;
  if (rough > limit)
    return std::nullopt;
  findBetterNetworks();
  for (bool gains = true; gains && result.rounds < options.rounds;) {
    ++result.rounds;
    const JointPair from = pairs.front();
    if (!climbAll({{from.placement, estimatedOn(from.topology.network),
                    seedOf(static_cast<uint64_t>(result.rounds)),
                    "annealing on the network of the best pair"}},
                  error) ||
        !findNetworks(error))
      return std::nullopt;
    findBetterNetworks();
    gains = pairs.front().topology.time < from.topology.time;
  }
  JointPair start =
      *std::find_if(pairs.begin(), pairs.end(),
                    [](const JointPair &pair) { return pair.isStart; });
  judgeAgain();
  result.start = start.way;
  result.startTime = lastTime(start);
  start.topology.time = result.startTime;
  result.best = result.startTime < pairs.front().topology.time
                    ? std::move(start)
                    : std::move(pairs.front());
  return std::move(result);
}

std::optional<FoundPair> ffc::network::searchJointly(
    const LayerSteps &steps, const LayerChoices &choices,
    const JointSearchOptions &options,
    const std::function<bool(const ffc::plan::Strategy &)> &fits,
    const NetworkJudge &searching, const NetworkJudge &last,
    std::string &error) {
  JointSearch search(steps, choices, options, fits, searching, last);
  auto found = search.run(kNever, error);
  if (!found || options.network.degree < 2)
    return found;
  constexpr double kPromising = 1.1;
  JointSearchOptions fewer = options;
  --fewer.network.degree;
  std::string none;
  auto other =
      JointSearch(steps, choices, fewer, fits, searching, last)
          .run(static_cast<Picoseconds>(
                   kPromising * static_cast<double>(search.roughTime())),
               none);
  if (!other)
    return found;
  FoundPair &best =
      other->best.topology.time < found->best.topology.time ? *other : *found;
  FoundPair &rest = &best == &*other ? *found : *other;
  best.estimated += rest.estimated;
  best.pairs += rest.pairs;
  best.tried += rest.tried;
  best.rounds += rest.rounds;
  if (rest.startTime < best.startTime) {
    best.start = std::move(rest.start);
    best.startTime = rest.startTime;
  }
  return std::move(best);
}
