//===- JointSearch.cpp - strategy and network found together --------------===//

#include "ffc/Network/JointSearch.h"

#include "ffc/Network/StepEstimate.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace ffc::network;

namespace {

struct Estimated {
  Picoseconds time = 0;
  Placement placement;
};

class JointSearch {
public:
  JointSearch(const LayerSteps &steps, const LayerChoices &choices,
              const JointSearchOptions &options,
              const std::function<bool(const ffc::plan::Strategy &)> &fits,
              const NetworkJudge &searching, const NetworkJudge &last)
      : steps(steps), choices(choices), options(options), fits(fits),
        searching(searching), last(last), random(options.seed) {}

  std::optional<FoundPair> run(std::string &error);

private:
  std::optional<TaskGraph> tasksOf(const Placement &placement,
                                   std::string &error) const;
  Picoseconds estimate(const TaskGraph &graph, const Network *network) const;
  std::vector<Estimated> climb(const Placement &from, const Network *network);
  bool consider(const Placement &placement, const std::string &way,
                std::string &error);
  void judgeAgain();

  const LayerSteps &steps;
  const LayerChoices &choices;
  const JointSearchOptions &options;
  const std::function<bool(const ffc::plan::Strategy &)> &fits;
  const NetworkJudge &searching, &last;
  std::mt19937_64 random;
  std::set<Placement> seen;     ///< those that got networks, or do not fit
  std::vector<JointPair> pairs; ///< best first
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

Picoseconds JointSearch::estimate(const TaskGraph &graph,
                                  const Network *network) const {
  return estimateStep(graph,
                      {options.network.degree * options.network.bandwidth,
                       options.network.latency, network});
}

/// Simulated annealing; the best few strategies, best first.
std::vector<Estimated> JointSearch::climb(const Placement &from,
                                          const Network *network) {
  std::string error;
  std::vector<Estimated> elites;
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
  const std::optional<TaskGraph> first = tasksOf(from, error);
  if (!first)
    return {};
  Estimated current = {estimate(*first, network), from};
  keep(current);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int64_t i = 0; i < options.strategies; ++i) {
    Placement placement = choices.propose(current.placement, random);
    if (placement == current.placement)
      continue;
    const std::optional<TaskGraph> graph = tasksOf(placement, error);
    if (!graph)
      continue;
    ++result.estimated;
    const Estimated next = {estimate(*graph, network), std::move(placement)};
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
  return elites;
}

/// Finds a network for a strategy. False with an error where there is none;
/// passed over is what does not fit into memory, and what not even a switch
/// would make faster than the best pair.
bool JointSearch::consider(const Placement &placement, const std::string &way,
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
  if (!pairs.empty() &&
      std::max(estimate(pair.graph, nullptr),
               stepBound(pair.traffic, options.network.degree,
                         options.network.kind, options.network.bandwidth)) >
          pairs.front().topology.time)
    return true;
  if (!fits(choices.strategyOf(placement)))
    return true;
  auto found = searchTopology(
      pair.traffic, options.network,
      [&](const Network &network, const std::vector<RingOrders> &rings) {
        return searching(divideAllReduces(pair.graph, pair.traffic, rings),
                         network);
      });
  if (!found) {
    error = "expected a degree of 2 or more, or one-way links: no network of " +
            std::to_string(pair.traffic.numServers) +
            " servers with a single two-way link each is connected";
    return false;
  }
  ++result.pairs;
  result.tried += found->tried;
  pair.topology = std::move(*found);
  const auto at =
      std::find_if(pairs.begin(), pairs.end(), [&](const JointPair &other) {
        return pair.topology.time < other.topology.time;
      });
  pairs.insert(at, std::move(pair));
  return true;
}

/// By the last judge, the few that may be best by it, too.
void JointSearch::judgeAgain() {
  constexpr double kNear = 1.03;
  const double near = kNear * double(pairs.front().topology.time);
  size_t count = 0;
  for (; count < pairs.size() && count < size_t(options.elites) &&
         double(pairs[count].topology.time) <= near;
       ++count) {
    JointPair &pair = pairs[count];
    pair.topology.time =
        last(divideAllReduces(pair.graph, pair.traffic, pair.topology.rings),
             pair.topology.network);
  }
  std::stable_sort(pairs.begin(), pairs.begin() + std::ptrdiff_t(count),
                   [](const JointPair &a, const JointPair &b) {
                     return a.topology.time < b.topology.time;
                   });
}

std::optional<FoundPair> JointSearch::run(std::string &error) {
  const std::vector<NamedPlacement> starts = choices.starts();
  for (const NamedPlacement &start : starts)
    if (!consider(start.placement, start.name, error))
      return std::nullopt;
  if (pairs.empty()) {
    error = "no strategy to start from fits into the devices' memory";
    return std::nullopt;
  }
  const JointPair start = pairs.front();
  // On a switch first, which favours no traffic.
  for (const NamedPlacement &each : starts)
    for (const Estimated &one : climb(each.placement, nullptr))
      if (!consider(one.placement,
                    "annealing from " + each.name + " on a switch", error))
        return std::nullopt;
  for (bool gains = true; gains && result.rounds < options.rounds;) {
    ++result.rounds;
    const Picoseconds before = pairs.front().topology.time;
    const JointPair from = pairs.front();
    for (const Estimated &one : climb(from.placement, &from.topology.network))
      if (!consider(one.placement, "annealing on the network of the best pair",
                    error))
        return std::nullopt;
    gains = pairs.front().topology.time < before;
  }
  judgeAgain();
  result.start = start.way;
  result.startTime =
      last(divideAllReduces(start.graph, start.traffic, start.topology.rings),
           start.topology.network);
  result.best = result.startTime < pairs.front().topology.time
                    ? start
                    : std::move(pairs.front());
  result.best.topology.time =
      std::min(result.best.topology.time, result.startTime);
  return std::move(result);
}

std::optional<FoundPair> ffc::network::searchJointly(
    const LayerSteps &steps, const LayerChoices &choices,
    const JointSearchOptions &options,
    const std::function<bool(const ffc::plan::Strategy &)> &fits,
    const NetworkJudge &searching, const NetworkJudge &last,
    std::string &error) {
  return JointSearch(steps, choices, options, fits, searching, last).run(error);
}
