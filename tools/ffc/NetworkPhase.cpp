//===- NetworkPhase.cpp - strategy and network found together -------------===//
//
// --topology=topoopt. Up to here the topology is a switch with the servers of
// the flags; from here on it is the network found. Models of which FlexNet
// measured the layers are searched for here, others in PlanNetworkPhase.cpp.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"
#include "SearchProgress.h"

#include "ffc/Network/JointSearch.h"
#include "ffc/Network/PacketTransport.h"
#include "ffc/Network/Simulate.h"
#include "ffc/Network/TopologyText.h"
#include "ffc/Network/TrainTransport.h"

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

plan::Topology Compilation::topologyOf(const network::Network &found,
                                       std::string &text) const {
  network::ServerParts parts;
  parts.devices = static_cast<int>(options.flexNet.gpusPerServer.value_or(1));
  parts.kind = topology->kindOf(0).name;
  parts.bandwidth = network::bandwidthInside(*topology);
  text = network::printTopology(found, "found", parts);
  std::string error;
  auto read = plan::Topology::parse(text, "found.yaml", error);
  if (read && options.memoryLimit)
    read = read->withMemory(*options.memoryLimit);
  // The text is ours.
  if (!read)
    llvm::report_fatal_error(llvm::Twine("network search: ") + error);
  return std::move(*read);
}

void Compilation::takeNetwork(network::FoundTopology found) {
  topology = topologyOf(found.network, topologyText);
  foundNetwork = std::move(found);
}

template <typename Transport>
static network::Picoseconds stepOn(const network::TaskGraph &graph,
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
  const plan::CostModel cost = costModel(planned.graph, *topology);
  plan::SegmentTable table(planned.graph, topology->numDevices(), cost);
  auto fits = [&](const plan::Strategy &given) {
    return timeIfItFits(given, {}, *topology, table).has_value();
  };
  auto found = network::searchJointly(*steps, *choices, searching, fits,
                                      stepOn<network::TrainTransport>,
                                      stepOn<network::PacketTransport>, error);
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
  takeNetwork(std::move(best.topology));
  return plan::PartialStrategy(taken.begin(), taken.end());
}
