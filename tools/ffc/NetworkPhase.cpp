//===- NetworkPhase.cpp - strategy and network found together -------------===//
//
// --topology=topoopt. Up to here the topology is a switch with the servers of
// the flags; from here on it is the network found.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"
#include "SearchProgress.h"

#include "ffc/Network/JointSearch.h"
#include "ffc/Network/PacketTransport.h"
#include "ffc/Network/PlanTasks.h"
#include "ffc/Network/Simulate.h"
#include "ffc/Network/TopologyText.h"
#include "ffc/Network/TrainTransport.h"
#include "ffc/Plan/ScheduledStep.h"
#include "ffc/Plan/Timing.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>

using namespace mlir;
using namespace ffc;

network::TopologySearchOptions Compilation::networkOptions() const {
  constexpr double kGigabit = 1e9 / 8;
  constexpr plan::Picoseconds kMicrosecond = 1'000'000;
  constexpr int64_t kProposals = 2000;
  const FlexNetFlags &flags = options.flexNet;
  network::TopologySearchOptions searching;
  searching.degree = static_cast<int>(flags.degreeOrDefault());
  searching.bandwidth = double(*flags.interfaceBandwidth) * kGigabit;
  searching.latency = flags.latency.value_or(0) * kMicrosecond;
  searching.proposals = kProposals;
  // More would take too long for each of many strategies.
  searching.leastDegree = std::max(1, searching.degree - 1);
  searching.seed = options.search.seed + 1;
  return searching;
}

LogicalResult Compilation::takeNetwork(network::FoundTopology found) {
  network::ServerParts parts;
  parts.devices = static_cast<int>(options.flexNet.gpusPerServer.value_or(1));
  parts.kind = topology->kindOf(0).name;
  parts.bandwidth = network::bandwidthInside(*topology);
  topologyText = network::printTopology(found.network, "found", parts);
  std::string error;
  auto read = plan::Topology::parse(topologyText, "found.yaml", error);
  if (read && options.memoryLimit)
    read = read->withMemory(*options.memoryLimit);
  if (!read)
    return fail(error);
  topology = std::move(*read);
  foundNetwork = std::move(found);
  return success();
}

template <typename Transport>
static network::Picoseconds timeOn(const network::TaskGraph &graph,
                                   const network::Network &net) {
  Transport transport(net, network::PacketOptions());
  std::string error;
  const auto step = network::simulate(graph, net, transport, {}, error);
  // The graph is ours, and every pair has a path.
  if (!step)
    llvm::report_fatal_error(llvm::Twine("network search: ") + error);
  return step->finish;
}

FailureOr<plan::PartialStrategy> Compilation::searchWithNetwork() {
  auto strategy = isMeasuredByFlexNet() ? searchLayersWithNetwork()
                                        : searchPlansWithNetwork();
  if (failed(strategy) ||
      failed(writeStrategy(options.printTopology, topologyText)))
    return failure();
  return strategy;
}

//===----------------------------------------------------------------------===//
// By layers that FlexNet measured
//===----------------------------------------------------------------------===//

FailureOr<plan::PartialStrategy> Compilation::searchLayersWithNetwork() {
  report.phase("search");
  const auto begin = std::chrono::steady_clock::now();
  std::string error;
  const auto steps = network::LayerSteps::of(planned.graph, *topology, measured,
                                             options.serverInside, error);
  if (!steps)
    return fail(Twine("--topology=topoopt: ") + error);
  const auto choices = network::LayerChoices::of(*steps, error);
  if (!choices)
    return fail(Twine("--topology=topoopt: ") + error);
  network::JointSearchOptions searching;
  searching.network = networkOptions();
  // It tries one interface fewer by itself, with strategies for that.
  searching.network.leastDegree = searching.network.degree;
  searching.network.changes = 40;
  searching.seed = searching.network.seed;
  if (options.search.budget)
    searching.strategies = *options.search.budget;
  const plan::CostModel cost = costModel(planned.graph);
  plan::SegmentTable table(planned.graph, topology->numDevices(), cost);
  auto fits = [&](const plan::Strategy &given) {
    return timeIfItFits(given, table).has_value();
  };
  auto found = network::searchJointly(*steps, *choices, searching, fits,
                                      timeOn<network::TrainTransport>,
                                      timeOn<network::PacketTransport>, error);
  if (!found)
    return fail(Twine("--topology=topoopt: ") + error);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  network::JointPair &best = found->best;
  report.say(llvm::formatv(
      "search: {0} strategies estimated, {1} of them on networks of their own "
      "({2} networks), {3} rounds, in {4:f1} s",
      found->estimated, found->pairs, found->tried, found->rounds,
      took.count()));
  report.say(llvm::formatv(
      "  found: {0} (packet level), by {1}; network by {2}",
      milliseconds(best.topology.time), best.way, best.topology.way));
  report.say(
      llvm::formatv("  best start: {0}, {1}, {2:f2} times that", found->start,
                    milliseconds(found->startTime),
                    double(found->startTime) / double(best.topology.time)));
  const plan::Strategy taken = choices->strategyOf(best.placement);
  report.phase("plan");
  if (failed(takeNetwork(std::move(best.topology))))
    return failure();
  return plan::PartialStrategy(taken.begin(), taken.end());
}

//===----------------------------------------------------------------------===//
// By whole plans
//===----------------------------------------------------------------------===//

std::optional<plan::Picoseconds>
Compilation::timeIfItFits(const plan::Strategy &given,
                          plan::SegmentTable &table) const {
  const plan::CostModel &cost = table.cost();
  const plan::ScheduledStep step(table, given, schedule);
  std::optional<plan::Picoseconds> time = step.time();
  std::vector<int64_t> bytes;
  if (time) {
    bytes = *step.memory();
  } else { // some micro-batches are not like others
    const plan::Program program = programOf(given, cost);
    bytes = bytesOf(program);
    time = plan::timeProgram(planned.graph, given, program, cost).makespan;
  }
  for (plan::DeviceId id = 0; id < topology->numDevices(); ++id)
    if (bytes[id] > topology->kindOf(id).memoryBytes)
      return std::nullopt;
  return time;
}

std::optional<network::FoundTopology>
Compilation::networkFor(const plan::Strategy &given) const {
  const plan::CostModel cost = costModel(planned.graph);
  const plan::Program program = programOf(given, cost);
  const plan::Timeline times =
      plan::timeProgram(planned.graph, given, program, cost);
  const network::TaskGraph graph =
      network::planTasks({planned.graph, given, program, *topology, times},
                         cost, options.serverInside)
          .graph;
  const network::Traffic traffic = network::trafficOf(graph);
  return network::searchTopology(
      traffic, networkOptions(),
      [&](const network::Network &net,
          const std::vector<network::RingOrders> &rings) {
        return timeOn<network::TrainTransport>(
            network::divideAllReduces(graph, traffic, rings), net);
      });
}

namespace {

/// A strategy on a network.
struct PlanPair {
  plan::Picoseconds time = 0;
  plan::Strategy strategy;
  plan::PipelineSchedule schedule;
  plan::Topology topology;
  network::FoundTopology network;
  std::string topologyText;
};

} // namespace

/// Strategies are searched for on the network of the one before, and each gets
/// a network of its own before it is compared.
FailureOr<plan::PartialStrategy> Compilation::searchPlansWithNetwork() {
  constexpr int kRounds = 3;
  std::optional<PlanPair> best;
  auto offer = [&](const plan::Strategy &given) {
    const plan::CostModel cost = costModel(planned.graph);
    plan::SegmentTable table(planned.graph, topology->numDevices(), cost);
    const auto time = timeIfItFits(given, table);
    if (!time || (best && best->time <= *time))
      return false;
    best = PlanPair{*time,     given,         schedule,
                    *topology, *foundNetwork, topologyText};
    return true;
  };
  auto offerOnItsNetwork = [&](const plan::Strategy &given) -> FailureOr<bool> {
    auto found = networkFor(given);
    if (!found)
      return fail("--degree: expected 2 or more: no network of " +
                  Twine(*options.flexNet.servers) +
                  " servers with a single link each is connected");
    if (failed(takeNetwork(std::move(*found))))
      return failure();
    return offer(given);
  };
  const plan::Topology onSwitch = *topology;
  std::string error;
  if (const auto given =
          plan::dataParallel(planned.graph, topology->numDevices(), error))
    if (failed(
            offerOnItsNetwork(plan::completeStrategy(planned.graph, *given))))
      return failure();
  const std::optional<plan::Picoseconds> start =
      best ? std::optional(best->time) : std::nullopt;
  // On a switch first, which favours no traffic.
  topology = onSwitch;
  foundNetwork.reset();
  for (int round = 0; round < kRounds; ++round) {
    const auto found = search();
    if (failed(found))
      return failure();
    startFrom = plan::completeStrategy(planned.graph, *found);
    bool gains = foundNetwork && offer(*startFrom);
    const auto gainsMore = offerOnItsNetwork(*startFrom);
    if (failed(gainsMore))
      return failure();
    if (!(gains || *gainsMore))
      break;
  }
  if (!best)
    return fail("--topology=topoopt: no strategy found that fits into the "
                "devices' memory");
  std::string than;
  if (start)
    than = llvm::formatv("; data-parallel on a network of its own: {0}, {1:f2} "
                         "times that",
                         milliseconds(*start),
                         double(*start) / double(best->time));
  report.say("network: " + milliseconds(best->time) + ", by " +
             best->network.way + than);
  topology = std::move(best->topology);
  foundNetwork = std::move(best->network);
  topologyText = std::move(best->topologyText);
  schedule = best->schedule;
  return plan::PartialStrategy(best->strategy.begin(), best->strategy.end());
}
