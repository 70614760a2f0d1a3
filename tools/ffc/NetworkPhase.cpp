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
#include "ffc/Network/Simulate.h"
#include "ffc/Network/TopologyText.h"
#include "ffc/Network/TrainTransport.h"
#include "ffc/Plan/ScheduledStep.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>

using namespace mlir;
using namespace ffc;

network::TopologySearchOptions Compilation::networkOptions() const {
  constexpr double kGigabit = 1e9 / 8;
  constexpr plan::Picoseconds kMicrosecond = 1'000'000;
  constexpr int64_t kProposals = 4000;
  const FlexNetFlags &flags = options.flexNet;
  network::TopologySearchOptions searching;
  searching.degree = static_cast<int>(flags.degreeOrDefault());
  searching.bandwidth = double(*flags.interfaceBandwidth) * kGigabit;
  searching.latency = flags.latency.value_or(0) * kMicrosecond;
  searching.proposals = kProposals;
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
  return writeStrategy(options.printTopology, topologyText);
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
  if (measured && measured->flexNet())
    return searchLayersWithNetwork();
  return fail("--topology=topoopt: expected --mfile FILE with measurements of "
              "FlexNet, found none");
}

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
  searching.seed = searching.network.seed;
  if (options.search.budget)
    searching.strategies = *options.search.budget;
  const plan::CostModel cost = costModel(planned.graph);
  plan::SegmentTable table(planned.graph, topology->numDevices(), cost);
  auto fits = [&](const plan::Strategy &given) {
    const auto bytes = plan::ScheduledStep(table, given, schedule).memory();
    for (plan::DeviceId id = 0; bytes && id < topology->numDevices(); ++id)
      if ((*bytes)[id] > topology->kindOf(id).memoryBytes)
        return false;
    return true;
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
