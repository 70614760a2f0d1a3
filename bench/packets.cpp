//===- packets.cpp - task graphs at the level of packets ------------------===//
//
// Simulates steps as FlexNetPacket does, one for each line of standard input:
//
//   FILE NETWORK MBIT/S NANOSECONDS QUEUE THRESHOLD ALL-REDUCE SEED
//
// NETWORK is `file` (links and routes of the file) or the number of servers of
// a fat tree; speed and latency are of an interface; QUEUE, in packets, is that
// of switches, 0 for any number; THRESHOLD is where slow start ends, in
// packets; ALL-REDUCE is ring, ps or dps. Answers with one line of JSON each.
// test/tools/packet_rows.py asks it for the runs of data/topoopt/oracle.json.
//
//===----------------------------------------------------------------------===//

#include "ffc/Network/NetworkBuilder.h"
#include "ffc/Network/PacketTransport.h"
#include "ffc/Network/Simulate.h"
#include "ffc/Network/TaskGraphFile.h"

#include <chrono>
#include <ctime>
#include <iostream>
#include <optional>
#include <sstream>

using namespace ffc::network;

namespace {

struct Run {
  std::string file, network, allReduce;
  double megabits = 0;
  int64_t nanoseconds = 0;
  PacketOptions packets;
};

} // namespace

static std::optional<Run> parseRun(const std::string &line,
                                   std::string &error) {
  Run run;
  std::istringstream words(line);
  std::string rest;
  if (words >> run.file >> run.network >> run.megabits >> run.nanoseconds >>
          run.packets.queuePackets >> run.packets.slowStartThreshold >>
          run.allReduce >> run.packets.seed &&
      !(words >> rest))
    return run;
  error = "expected FILE NETWORK MBIT/S NANOSECONDS QUEUE THRESHOLD ALL-REDUCE "
          "SEED, found '" +
          line + "'";
  return std::nullopt;
}

static std::optional<AllReduceKind> allReduceOf(const std::string &name,
                                                std::string &error) {
  if (name == "ring")
    return AllReduceKind::Ring;
  if (name == "ps")
    return AllReduceKind::ParameterServer;
  if (name == "dps")
    return AllReduceKind::Direct;
  error = "expected ring, ps or dps, found '" + name + "'";
  return std::nullopt;
}

/// The network of `run`; `ofFile` is that of the task graph.
static std::optional<Network> networkOf(const Run &run, Network ofFile,
                                        int servers, std::string &error) {
  Interface interface;
  interface.bandwidth = run.megabits * 1e6 / 8;
  interface.latency = run.nanoseconds * 1000;
  if (run.network == "file") {
    setSpeed(ofFile, interface);
    return ofFile;
  }
  int room = 0;
  if (!(std::istringstream(run.network) >> room) || room < 1) {
    error = "expected file or a number of servers, found '" + run.network + "'";
    return std::nullopt;
  }
  int ports = 2;
  while (ports * ports * ports / 4 < room)
    ports += 2;
  return makeFatTree(ports, servers, interface, error);
}

static bool answer(const std::string &line, std::string &error) {
  std::optional<Run> run = parseRun(line, error);
  if (!run)
    return false;
  SimulateOptions options;
  const std::optional<AllReduceKind> kind = allReduceOf(run->allReduce, error);
  if (!kind)
    return false;
  options.allReduce = *kind;
  std::optional<TaskGraphFile> file = loadTaskGraph(run->file, error);
  if (!file)
    return false;
  const std::optional<Network> network =
      networkOf(*run, file->network, file->graph.numServers, error);
  if (!network)
    return false;
  run->packets.serversMark = run->network == "file";
  error = faultOf(*network);
  if (error.empty())
    error = faultOf(run->packets);
  if (!error.empty())
    return false;
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t beginOfProcessor = std::clock();
  PacketTransport transport(*network, run->packets);
  const std::optional<SimulatedStep> step =
      simulate(file->graph, *network, transport, options, error);
  if (!step)
    return false;
  const std::chrono::duration<double> wall =
      std::chrono::steady_clock::now() - begin;
  double flowTime = 0;
  for (const FlowTime &flow : step->flows)
    flowTime += static_cast<double>(flow.end - flow.start) / 1e9;
  const PacketCounts &counts = transport.counts();
  std::cout << "{\"finish_ps\": " << step->finish
            << ", \"flows\": " << step->flows.size() << ", \"fct_mean_ms\": "
            << (step->flows.empty()
                    ? 0
                    : flowTime / static_cast<double>(step->flows.size()))
            << ", \"seconds\": " << wall.count() << ", \"processor_seconds\": "
            << static_cast<double>(std::clock() - beginOfProcessor) /
                   CLOCKS_PER_SEC
            << ", \"hops\": " << counts.hops
            << ", \"marked\": " << counts.marked
            << ", \"lost\": " << counts.lost
            << ", \"sent_again\": " << counts.sentAgain
            << ", \"timeouts\": " << counts.timeouts << "}" << std::endl;
  return true;
}

int main() {
  std::string line, error;
  while (std::getline(std::cin, line))
    if (!answer(line, error)) {
      std::cerr << "error: " << error << "\n";
      return 1;
    }
}
