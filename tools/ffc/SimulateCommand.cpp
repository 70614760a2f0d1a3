//===- SimulateCommand.cpp - ffc simulate ---------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"
#include "SimulateReport.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Network/FlowTransport.h"
#include "ffc/Network/NetworkBuilder.h"
#include "ffc/Network/OccupancyTransport.h"
#include "ffc/Network/PacketTransport.h"
#include "ffc/Network/Simulate.h"
#include "ffc/Network/TaskGraphFile.h"
#include "ffc/Network/TaskProblem.h"
#include "ffc/Network/TrainTransport.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace ffc;
using codegen::makeError;
using network::AllReduceKind;
using network::Network;
using plan::Picoseconds;
using plan::QuantityKind;

namespace {

enum class Model { Fair, Flows, Occupancy, Packets };

struct SimulateCommandOptions : CommandOptions {
  std::string network = "file";
  std::optional<double> bandwidth, latency; ///< bytes per second, picoseconds
  Model model = Model::Flows;
  network::SimulateOptions simulate;
  /// Of the model of packets; what is not given has its default.
  std::optional<int64_t> queue, slowStart, seed;
  std::optional<bool> serversMark;
  bool tasks = false, json = false;
};

/// What is simulated.
struct Input {
  network::TaskGraph graph;
  std::vector<std::string> names; ///< of tasks
  Network network;
  bool isText = false;
  double bandwidth = 0; ///< that the file gives interfaces; 0: none
};

} // namespace

static const char *const kIntro =
    "ffc simulate: when the tasks of a step end on a network of servers\n\n"
    "  ffc simulate GRAPH [--network=switch] [--model=flows]\n\n"
    "GRAPH is a task graph of FlexNet (FlatBuffers) or a text:\n\n"
    "  ffc tasks 1\n"
    "  servers 3\n"
    "  link 0 1 10 GB/s 1 us\n"
    "  link 1 2 10 GB/s 1 us\n"
    "  compute a on 0 for 1 ms\n"
    "  transfer b from 0 to 2 of 1 MB after a\n"
    "  all-reduce c on 0 1 of 5 MB after b\n";

constexpr int64_t kMostPackets = std::numeric_limits<int32_t>::max();

using Group = FlagGroupOf<SimulateCommandOptions>;

static const std::vector<Group> &flagGroups() {
  using Options = SimulateCommandOptions;
  auto allReduce = [](Options &options) -> AllReduceKind & {
    return options.simulate.allReduce;
  };
  auto bandwidth = [](Options &options) -> double & {
    return options.bandwidth.emplace(0);
  };
  auto latency = [](Options &options) -> double & {
    return options.latency.emplace(0);
  };
  static const std::vector<Group> groups = {
      {"Network",
       {{"--network", "NETWORK",
         "file: links and routes of GRAPH (default); switch: all servers on "
         "one; fat-tree:K: three levels of switches with K ports; or a "
         "topology, a file or a preset, whose nodes are the servers",
         setText(&Options::network)},
        {"--bandwidth", "BANDWIDTH",
         "of an interface, such as '100 Gbit/s' (default: what GRAPH says)",
         setQuantity(bandwidth, QuantityKind::BytesPerSecond, 1)},
        {"--latency", "TIME", "of a link (default: what GRAPH says, or 1 us)",
         setQuantity(latency, QuantityKind::Time, 0)}}},
      {"Simulation",
       {{"--model", "MODEL",
         "flows: flows send windows of packets, which queue for links "
         "(default); fair: links are shared fairly, without packets and "
         "latency; occupancy: a link carries one message after another; "
         "packets: every packet is queued, marked and acknowledged (DCTCP)",
         setChoice<Model>(&Options::model, {{"flows", Model::Flows},
                                            {"fair", Model::Fair},
                                            {"occupancy", Model::Occupancy},
                                            {"packets", Model::Packets}})},
        {"--all-reduce", "KIND",
         "ring (default); ps: by the first member as parameter server; dps: "
         "everybody sends to everybody",
         setChoice<AllReduceKind>(allReduce,
                                  {{"ring", AllReduceKind::Ring},
                                   {"ps", AllReduceKind::ParameterServer},
                                   {"dps", AllReduceKind::Direct}})}}},
      {"Packets (--model=flows or packets)",
       {{"--marking", "WHERE",
         "which long queues mark packets, so that senders slow down: all "
         "(default) or switches",
         setChoice<bool>(&Options::serversMark,
                         {{"all", true}, {"switches", false}})},
        {"--slow-start", "PACKETS",
         "up to which window a sender doubles it (default: 10000)",
         setWhole(&Options::slowStart, 1, kMostPackets)},
        {"--queue", "PACKETS",
         "how many a queue of a switch holds before packets are lost "
         "(--model=packets; default: any number)",
         setWhole(&Options::queue, 1, kMostPackets)},
        {"--seed", "N",
         "of the drawing of paths, one for each message (default: 1)",
         setWhole(&Options::seed, 0)}}},
      {"Output",
       {{"--tasks", "", "also when each task starts and ends",
         setTrue(&Options::tasks)},
        {"--json", "", "the report as JSON", setTrue(&Options::json)},
        helpFlag<Options>()}}};
  return groups;
}

static Error check(SimulateCommandOptions &options) {
  auto given = [](const auto &value) { return value.has_value(); };
  const bool lose = options.model == Model::Packets;
  const bool mark = lose || options.model == Model::Flows;
  for (auto [flag, isGiven, models, means] :
       {std::tuple("--queue", given(options.queue), "packets", lose),
        std::tuple("--seed", given(options.seed), "flows or packets", mark),
        std::tuple("--marking", given(options.serversMark), "flows or packets",
                   mark),
        std::tuple("--slow-start", given(options.slowStart), "flows or packets",
                   mark)})
    if (isGiven && !means)
      return makeError("flag '" + StringRef(flag) +
                       "' has no meaning without --model=" + models);
  return expectArguments(options, 1, "one task graph, a file");
}

//===----------------------------------------------------------------------===//
// What is simulated
//===----------------------------------------------------------------------===//

static Expected<Input> readInput(const std::string &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError(path + ": cannot be read: " + buffer.getError().message());
  const std::string contents = (*buffer)->getBuffer().str();
  std::string error;
  Input input;
  if (network::TaskProblem::isText(contents)) {
    auto problem = network::TaskProblem::parse(contents, path, error);
    if (!problem)
      return makeError(error);
    input.graph = std::move(problem->graph);
    input.names = std::move(problem->names);
    input.network = std::move(problem->network);
    input.isText = true;
    return input;
  }
  auto file = network::parseTaskGraph(contents, path, error);
  if (!file)
    return makeError(error);
  input.graph = std::move(file->graph);
  input.network = std::move(file->network);
  input.bandwidth = static_cast<double>(file->networkBandwidth) * 1000;
  for (size_t task = 0; task < input.graph.tasks.size(); ++task)
    input.names.push_back(std::to_string(task));
  return input;
}

/// The number in "fat-tree:16", or nothing if `name` is no such word.
static Expected<std::optional<int>> portsOf(StringRef name) {
  StringRef rest = name;
  if (!rest.consume_front("fat-tree"))
    return std::optional<int>();
  int ports = 0;
  if (!rest.consume_front(":") || rest.getAsInteger(10, ports))
    return makeError("--network: expected fat-tree:K with K ports of a "
                     "switch, found '" +
                     name + "'");
  return std::optional<int>(ports);
}

static Expected<Network> topologyNetwork(const SimulateCommandOptions &options,
                                         const Input &input,
                                         const network::ServerPairs &pairs) {
  if (options.bandwidth || options.latency)
    return makeError(
        StringRef("flag '--") + (options.bandwidth ? "bandwidth" : "latency") +
        "' has no meaning with a topology, which says how fast its links are");
  std::string error;
  const auto topology = plan::Topology::load(options.network, error);
  if (!topology)
    return makeError(error);
  const int nodes = static_cast<int>(topology->nodes().size());
  if (nodes != input.graph.numServers)
    return makeError(options.network + ": expected " +
                     Twine(input.graph.numServers) + " nodes, the servers of " +
                     options.arguments[0] + ", found " + Twine(nodes));
  auto made = network::networkOf(*topology, error, &pairs);
  if (!made)
    return makeError(error);
  return std::move(*made);
}

static Expected<Network> makeNetwork(const SimulateCommandOptions &options,
                                     const Input &input) {
  Expected<std::optional<int>> ports = portsOf(options.network);
  if (!ports)
    return ports.takeError();
  const bool ofFile = options.network == "file";
  const network::ServerPairs pairs =
      ofFile ? network::ServerPairs()
             : network::pairsThatSend(input.graph, Network(),
                                      options.simulate.allReduce);
  if (!ofFile && options.network != "switch" && !*ports)
    return topologyNetwork(options, input, pairs);

  if (ofFile && input.isText) {
    Network result = input.network;
    for (network::Link &link : result.links) {
      if (options.bandwidth)
        link.bandwidth = *options.bandwidth * link.interfaces;
      if (options.latency)
        link.latency = static_cast<Picoseconds>(*options.latency);
    }
    return result;
  }
  constexpr double kMicrosecond = 1e6;
  network::Interface interface;
  interface.bandwidth = options.bandwidth.value_or(input.bandwidth);
  interface.latency =
      static_cast<Picoseconds>(options.latency.value_or(kMicrosecond));
  if (interface.bandwidth == 0)
    return makeError(options.arguments[0] +
                     ": expected the bandwidth of an interface, found none; "
                     "give --bandwidth");
  const int servers = input.graph.numServers;
  if (ofFile) {
    Network result = input.network;
    network::setSpeed(result, interface);
    return result;
  }
  if (!*ports)
    return network::makeSwitch(servers, interface, &pairs);
  std::string error;
  auto tree = network::makeFatTree(**ports, servers, interface, error, &pairs);
  if (!tree)
    return makeError("--network: " + error);
  return std::move(*tree);
}

namespace {

/// A transport, and what the reports call its model.
struct Simulator {
  StringRef model, summary;
  std::unique_ptr<network::Transport> transport;
};

} // namespace

static network::PacketOptions
packetOptions(const SimulateCommandOptions &options) {
  network::PacketOptions packets;
  packets.queuePackets = options.queue.value_or(packets.queuePackets);
  packets.slowStartThreshold =
      options.slowStart.value_or(packets.slowStartThreshold);
  packets.serversMark = options.serversMark.value_or(packets.serversMark);
  packets.seed = static_cast<uint64_t>(
      options.seed.value_or(static_cast<int64_t>(packets.seed)));
  return packets;
}

static Simulator makeSimulator(const SimulateCommandOptions &options,
                               const Network &network) {
  const network::PacketOptions packets = packetOptions(options);
  switch (options.model) {
  case Model::Flows:
    return {"flows", "flow level: windows of packets, queues, marks",
            std::make_unique<network::TrainTransport>(network, packets)};
  case Model::Fair:
    return {"fair",
            "flow level: max-min fair rates, without packets and latency",
            std::make_unique<network::FlowTransport>(network)};
  case Model::Occupancy:
    return {"occupancy",
            "occupancy: links carry one segment of 1 MiB after another",
            std::make_unique<network::OccupancyTransport>(network)};
  case Model::Packets:
    return {"packets", "packet level: queues, marks, losses, DCTCP",
            std::make_unique<network::PacketTransport>(network, packets)};
  }
  llvm_unreachable("every model has a simulator");
}

static Error simulateStep(const SimulateCommandOptions &options) {
  Expected<Input> input = readInput(options.arguments[0]);
  if (!input)
    return input.takeError();
  Expected<Network> network = makeNetwork(options, *input);
  if (!network)
    return network.takeError();
  const Simulator simulator = makeSimulator(options, *network);
  std::string error;
  const auto step = network::simulate(
      input->graph, *network, *simulator.transport, options.simulate, error);
  if (!step)
    return makeError(options.arguments[0] + ": " + error);
  SimulatedRun run{simulator.model, simulator.summary, *network, *step};
  run.taskNames = std::move(input->names);
  if (options.model == Model::Packets)
    run.packets =
        static_cast<network::PacketTransport &>(*simulator.transport).counts();
  (options.json ? printJson : printReport)(run, options.tasks);
  return Error::success();
}

static int run(const SimulateCommandOptions &options) {
  if (Error error = simulateStep(options)) {
    printError(toString(std::move(error)));
    return 1;
  }
  return 0;
}

int ffc::runSimulateCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<SimulateCommandOptions>(
      {"ffc simulate", kIntro, flagGroups(), check, run}, arguments);
}
