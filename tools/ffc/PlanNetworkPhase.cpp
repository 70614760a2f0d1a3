//===- PlanNetworkPhase.cpp - whole plans on networks of their own --------===//
//
// --topology=topoopt of models that FlexNet did not measure.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"
#include "SearchProgress.h"

#include "ffc/Network/InThreads.h"
#include "ffc/Network/PlanTasks.h"
#include "ffc/Network/Transport.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/ScheduledStep.h"
#include "ffc/Plan/Timing.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>

using namespace mlir;
using namespace ffc;

/// Strategies of a search that get networks, besides its answer, times their
/// operators and devices: each is timed on several networks.
static constexpr size_t kMostTimedPoints = 300'000;
/// Searches for strategies, each on the best network so far.
static constexpr int kRounds = 3;
/// A round that gains less is the last one.
static constexpr double kLeastGain = 0.01;
/// Pairs that get more than a rough network in each round.
static constexpr size_t kBest = 2;

std::optional<plan::Picoseconds> Compilation::timeIfItFits(
    const plan::Strategy &given, const plan::PipelineSchedule &order,
    const plan::Topology &on, plan::SegmentTable &table) const {
  const plan::CostModel &cost = table.cost();
  const plan::ScheduledStep step(table, given, order);
  std::optional<plan::Picoseconds> time = step.time();
  std::vector<int64_t> bytes;
  if (time) {
    bytes = *step.memory();
  } else { // some micro-batches are not like others
    const plan::Program program = plan::planProgram(
        target, planned.graph, given, on.numDevices(), cost, order);
    bytes = bytesOf(program);
    time = plan::timeProgram(planned.graph, given, program, cost).makespan;
  }
  for (plan::DeviceId id = 0; id < on.numDevices(); ++id)
    if (bytes[id] > on.kindOf(id).memoryBytes)
      return std::nullopt;
  return time;
}

std::optional<plan::Picoseconds>
Compilation::timeOn(const network::Network &found, const plan::Strategy &given,
                    const plan::PipelineSchedule &order) const {
  std::string text;
  const plan::Topology on = topologyOf(found, text);
  const plan::CostModel cost = costModel(planned.graph, on);
  plan::SegmentTable table(planned.graph, on.numDevices(), cost);
  return timeIfItFits(given, order, on, table);
}

std::optional<network::FoundTopology>
Compilation::networkFor(const plan::Strategy &given,
                        const plan::PipelineSchedule &order,
                        const network::TopologySearchOptions &searching) const {
  const plan::CostModel cost = costModel(planned.graph, *topology);
  const plan::Program program = plan::planProgram(
      target, planned.graph, given, topology->numDevices(), cost, order);
  const plan::Timeline times =
      plan::timeProgram(planned.graph, given, program, cost);
  const network::TaskGraph graph =
      network::planTasks({planned.graph, given, program, *topology, times},
                         cost, options.serverInside)
          .graph;
  return network::searchTopology(
      network::trafficOf(graph), searching,
      [&](const network::Network &net,
          const std::vector<network::RingOrders> &) {
        return timeOn(net, given, order).value_or(network::kNever);
      });
}

namespace {

/// A strategy on the network that was found for it.
struct Pair {
  plan::Strategy strategy;
  plan::PipelineSchedule schedule;
  network::FoundTopology network; ///< its time is that of the plan
  bool isRough = true;
  bool isStart = false; ///< nobody searched for its strategy
  /// A search was made on its network.
  bool isDone = false;

  bool fits() const { return network.time < network::kNever; }
};

class Pairs {
public:
  using NetworkFor = std::function<std::optional<network::FoundTopology>(
      const Pair &pair, bool isRough)>;

  explicit Pairs(NetworkFor networkFor) : networkFor(std::move(networkFor)) {}

  const Pair &best() const { return all.front(); }
  const Pair *start() const {
    for (const Pair &pair : all)
      if (pair.isStart)
        return &pair;
    return nullptr;
  }
  /// The best one that no search was made on the network of; null: none. It is
  /// one from now on.
  const Pair *next() {
    for (Pair &pair : all)
      if (pair.fits() && !pair.isDone) {
        pair.isDone = true;
        return &pair;
      }
    return nullptr;
  }
  size_t size() const { return all.size(); }
  int networks() const { return tried; }

  void insert(Pair pair) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Pair &one) {
      return pair.network.time < one.network.time;
    });
    all.insert(at, std::move(pair));
  }

  /// Rough networks for strategies that have none, unless there was one like
  /// it. False: no network of the degree is connected.
  bool add(std::vector<Pair> pairs) {
    std::vector<Pair> added;
    for (Pair &pair : pairs) {
      auto isSame = [&](const Pair &other) {
        return other.strategy == pair.strategy;
      };
      if (std::none_of(all.begin(), all.end(), isSame) &&
          std::none_of(added.begin(), added.end(), isSame))
        added.push_back(std::move(pair));
    }
    return findNetworks(std::move(added), /*isRough=*/true);
  }

  /// For the best few, and the best start, all that can be found.
  bool improve() {
    std::vector<Pair> chosen, others;
    const Pair *bestStart = start();
    for (size_t i = 0; i < all.size(); ++i) {
      const bool isChosen = all[i].isRough && all[i].fits() &&
                            (i < kBest || &all[i] == bestStart);
      (isChosen ? chosen : others).push_back(all[i]);
    }
    all = std::move(others);
    return findNetworks(std::move(chosen), /*isRough=*/false);
  }

private:
  bool findNetworks(std::vector<Pair> pairs, bool isRough) {
    std::vector<std::optional<network::FoundTopology>> found(pairs.size());
    network::inThreads(pairs.size(), [&](size_t i) {
      found[i] = networkFor(pairs[i], isRough);
    });
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (!found[i])
        return false;
      tried += found[i]->judged;
      pairs[i].isRough = isRough;
      if (isRough || found[i]->time < pairs[i].network.time) {
        pairs[i].network = std::move(*found[i]);
        pairs[i].isDone = false;
      }
      insert(std::move(pairs[i]));
    }
    return true;
  }

  const NetworkFor networkFor;
  std::vector<Pair> all; ///< best first
  int tried = 0;
};

} // namespace

/// Strategies are searched for on a switch, which favours no traffic, and then
/// on the network of the best pair so far; those that the search met each get a
/// network of their own before they are compared, by the time of the plan on
/// it.
FailureOr<plan::PartialStrategy> Compilation::searchPlansWithNetwork() {
  const auto begin = std::chrono::steady_clock::now();
  Pairs pairs([&](const Pair &pair, bool isRough) {
    network::TopologySearchOptions searching = networkOptions();
    if (isRough) {
      searching.isRough = true;
      searching.leastDegree = searching.degree;
    }
    return networkFor(pair.strategy, pair.schedule, searching);
  });
  std::vector<Pair> met;
  std::string error;
  if (const auto given =
          plan::dataParallel(planned.graph, topology->numDevices(), error);
      given && options.pins.empty()) {
    met.push_back({plan::completeStrategy(planned.graph, *given), {}, {}});
    met.back().isStart = true;
  }
  const size_t points = planned.graph.ops.size() *
                        static_cast<size_t>(topology->numDevices()),
               most = std::max<size_t>(kMostTimedPoints / points, 1);
  int rounds = 0;
  for (bool gains = true; gains && rounds < kRounds; ++rounds) {
    const plan::Picoseconds before =
        rounds > 0 ? pairs.best().network.time : network::kNever;
    if (rounds > 0) {
      const Pair *next = pairs.next();
      if (!next)
        break;
      takeNetwork(next->network);
      startFrom = next->strategy;
    }
    schedule = {};
    const auto found = search();
    if (failed(found))
      return failure();
    report.phase("networks");
    Pair answer{plan::completeStrategy(planned.graph, *found), schedule, {}};
    // On the network that it was searched for on.
    if (foundNetwork)
      if (const auto time =
              timeOn(foundNetwork->network, answer.strategy, answer.schedule)) {
        Pair same = answer;
        same.network = *foundNetwork;
        same.network.time = *time;
        same.isDone = true;
        pairs.insert(std::move(same));
      }
    met.push_back(std::move(answer));
    for (size_t i = 0; i < std::min(most, searched.size()); ++i)
      met.push_back({searched[i], {}, {}});
    if (!pairs.add(std::move(met)) || !pairs.improve())
      return fail("--degree: expected 2 or more: no network of " +
                  Twine(*options.flexNet.servers) +
                  " servers with a single link each is connected");
    met.clear();
    gains = static_cast<double>(pairs.best().network.time) <
            (1 - kLeastGain) * static_cast<double>(before);
  }
  const Pair &best = pairs.best();
  if (!best.fits())
    return fail("--topology=topoopt: no strategy found that fits into the "
                "devices' memory");
  std::string than;
  if (const Pair *start = pairs.start(); start && start->fits())
    than = llvm::formatv(
        "; data-parallel on a network of its own: {0}, {1:f2} times that",
        milliseconds(start->network.time),
        double(start->network.time) / double(best.network.time));
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  report.say(llvm::formatv("network: {0}, by {1}{2}",
                           milliseconds(best.network.time), best.network.way,
                           than));
  report.say(llvm::formatv(
      "  {0} strategies on networks of their own ({1} networks), {2} rounds, "
      "in {3:f1} s",
      pairs.size(), pairs.networks(), rounds, took.count()));
  takeNetwork(best.network);
  schedule = best.schedule;
  return plan::PartialStrategy(best.strategy.begin(), best.strategy.end());
}
