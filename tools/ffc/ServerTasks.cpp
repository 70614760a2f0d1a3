//===- ServerTasks.cpp - a plan as a task graph of FlexNet ----------------===//

#include "Compilation.h"

#include "ffc/Network/NetworkBuilder.h"
#include "ffc/Network/PlanTasks.h"
#include "ffc/Plan/FlexNet.h"

#include <algorithm>

using namespace mlir;
using namespace ffc;

static constexpr double kMilliseconds = 1e3; // of a second

/// The bandwidth of an interface, of which a file has one: that of the
/// narrowest link. Links become as many interfaces as they are wide.
static float setInterfaces(network::Network &network) {
  double narrowest = 0;
  for (const network::Link &link : network.links)
    if (narrowest == 0 || link.bandwidth < narrowest)
      narrowest = link.bandwidth;
  for (network::Link &link : network.links)
    link.interfaces =
        std::max(1, static_cast<int>(link.bandwidth / narrowest + 0.5));
  return static_cast<float>(narrowest / kMilliseconds);
}

LogicalResult Compilation::writeServerTasks(const plan::Simulation &simulation,
                                            const plan::CostModel &cost) {
  const std::string &path = options.serverTasks;
  std::string error;
  network::ServerTasks tasks;
  if (measured && measured->flexNet()) {
    auto made = network::layerTasks(planned.graph, strategy, *topology,
                                    measured, options.serverInside, error);
    if (!made)
      return fail(Twine("--server-tasks: ") + error);
    tasks = std::move(*made);
  } else {
    tasks = network::planTasks(simulation, cost, options.serverInside);
  }
  for (const std::string &note : tasks.notes)
    report.say(path + ": " + note);
  network::TaskGraphFile file;
  if (foundNetwork) {
    // Its interfaces are known, and its rings.
    file.network = foundNetwork->network;
    file.networkBandwidth =
        static_cast<float>(networkOptions().bandwidth / kMilliseconds);
    file.graph = network::divideAllReduces(
        tasks.graph, network::trafficOf(tasks.graph), foundNetwork->rings);
  } else {
    auto network = network::networkOf(*topology, error);
    if (!network)
      return fail(Twine("--server-tasks: ") + error);
    file.networkBandwidth = setInterfaces(*network);
    file.network = std::move(*network);
    file.graph = std::move(tasks.graph);
  }
  file.operators = std::move(tasks.operators);
  const double bandwidth = options.serverInside.bandwidth > 0
                               ? options.serverInside.bandwidth
                               : network::bandwidthInside(*topology);
  file.gpuBandwidth = static_cast<float>(bandwidth / kMilliseconds);
  file.memoryBandwidth =
      static_cast<float>(topology->kindOf(0).memoryBandwidth / kMilliseconds);
  const auto bytes = network::printTaskGraph(file, error);
  if (!bytes)
    return fail(path + ": " + error);
  report.say(path + ": " + std::to_string(file.graph.tasks.size()) +
             " tasks of " + std::to_string(file.graph.numServers) + " servers");
  return check(codegen::writeFile(path, *bytes));
}

LogicalResult Compilation::writeMeasures(const plan::CostModel &cost) {
  std::string error;
  const auto text =
      plan::writeFlexNetMeasures(planned.graph, *topology, cost, error);
  if (!text)
    return fail(Twine("--export-measures: ") + error);
  return check(codegen::writeFile(options.exportMeasures, *text));
}
