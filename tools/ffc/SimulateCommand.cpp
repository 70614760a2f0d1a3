//===- SimulateCommand.cpp - ffc simulate ---------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Network/FlowTransport.h"
#include "ffc/Network/NetworkBuilder.h"
#include "ffc/Network/OccupancyTransport.h"
#include "ffc/Network/PacketTransport.h"
#include "ffc/Network/Simulate.h"
#include "ffc/Network/TaskGraphFile.h"
#include "ffc/Network/TaskProblem.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

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
  std::string network = "file", bandwidth, latency;
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
  std::vector<std::string> names; ///< of tasks; empty: they have none
  Network network;
  bool isText = false;
  double bandwidth = 0; ///< that the file gives interfaces; 0: none
};

struct Outcome {
  network::SimulatedStep step;
  std::optional<network::PacketCounts> packets; ///< of that model
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
  static const std::vector<Group> groups = {
      {"Network",
       {{"--network", "NETWORK",
         "file: links and routes of GRAPH (default); switch: all servers on "
         "one; fat-tree:K: three levels of switches with K ports; or a "
         "topology, a file or a preset, whose nodes are the servers",
         setText(&Options::network)},
        {"--bandwidth", "BANDWIDTH",
         "of an interface, such as '100 Gbit/s' (default: what GRAPH says)",
         setText(&Options::bandwidth)},
        {"--latency", "TIME", "of a link (default: what GRAPH says, or 1 us)",
         setText(&Options::latency)}}},
      {"Simulation",
       {{"--model", "MODEL",
         "flows: links are shared fairly by flows of packets, which have "
         "latency (default); fair: shared fairly, without packets and latency; "
         "occupancy: a link carries one message after another; packets: every "
         "packet is queued, marked and acknowledged (DCTCP)",
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
      {"Packets (--model=packets)",
       {{"--queue", "PACKETS",
         "how many a queue of a switch holds before packets are lost (default: "
         "any number)",
         setWhole(&Options::queue, 1, kMostPackets)},
        {"--marking", "WHERE",
         "which long queues mark packets, so that senders slow down: all "
         "(default) or switches",
         setChoice<bool>(&Options::serversMark,
                         {{"all", true}, {"switches", false}})},
        {"--slow-start", "PACKETS",
         "up to which window a sender doubles it (default: 10000)",
         setWhole(&Options::slowStart, 1, kMostPackets)},
        {"--seed", "N", "of the drawing of paths (default: 1)",
         setWhole(&Options::seed, 0)}}},
      {"Output",
       {{"--tasks", "", "also when each task starts and ends",
         setTrue(&Options::tasks)},
        {"--json", "", "the report as JSON", setTrue(&Options::json)},
        helpFlag<Options>()}}};
  return groups;
}

static Error check(SimulateCommandOptions &options) {
  for (auto [flag, isGiven] :
       {std::pair("--queue", options.queue.has_value()),
        std::pair("--marking", options.serversMark.has_value()),
        std::pair("--slow-start", options.slowStart.has_value()),
        std::pair("--seed", options.seed.has_value())})
    if (isGiven && options.model != Model::Packets)
      return makeError("flag '" + StringRef(flag) +
                       "' has no meaning without --model=packets");
  return expectArguments(options, 1, "one task graph, a file");
}

static std::string show(double value, QuantityKind kind) {
  return plan::formatQuantity(value, kind);
}

static std::string show(Picoseconds time) {
  return show(static_cast<double>(time), QuantityKind::Time);
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
  return input;
}

/// The quantity that `flag` gives, or nothing.
static Expected<std::optional<double>> quantityOf(StringRef flag,
                                                  const std::string &text,
                                                  QuantityKind kind,
                                                  double least) {
  if (text.empty())
    return std::optional<double>();
  std::string error;
  const std::optional<double> value = plan::parseQuantity(text, kind, error);
  if (!value)
    return makeError(flag + ": " + error);
  if (*value < least)
    return makeError(flag + ": expected at least " + show(least, kind) +
                     ", found '" + text + "'");
  return value;
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
                                         const Input &input) {
  if (!options.bandwidth.empty() || !options.latency.empty())
    return makeError(
        StringRef("flag '--") +
        (options.bandwidth.empty() ? "latency" : "bandwidth") +
        "' has no meaning with a topology, which says how fast its links are");
  std::string error;
  const auto topology = plan::Topology::load(options.network, error);
  if (!topology)
    return makeError(error);
  auto made = network::networkOf(*topology, error);
  if (!made)
    return makeError(error);
  if (made->numServers != input.graph.numServers)
    return makeError(options.network + ": expected " +
                     Twine(input.graph.numServers) + " nodes, the servers of " +
                     options.arguments[0] + ", found " +
                     Twine(made->numServers));
  return std::move(*made);
}

static Expected<Network> makeNetwork(const SimulateCommandOptions &options,
                                     const Input &input) {
  Expected<std::optional<int>> ports = portsOf(options.network);
  if (!ports)
    return ports.takeError();
  const bool ofFile = options.network == "file";
  if (!ofFile && options.network != "switch" && !*ports)
    return topologyNetwork(options, input);

  auto bandwidth = quantityOf("--bandwidth", options.bandwidth,
                              QuantityKind::BytesPerSecond, 1);
  if (!bandwidth)
    return bandwidth.takeError();
  auto latency =
      quantityOf("--latency", options.latency, QuantityKind::Time, 0);
  if (!latency)
    return latency.takeError();
  if (ofFile && input.isText) {
    Network result = input.network;
    for (network::Link &link : result.links) {
      if (*bandwidth)
        link.bandwidth = **bandwidth * link.interfaces;
      if (*latency)
        link.latency = static_cast<Picoseconds>(**latency);
    }
    return result;
  }
  constexpr double kMicrosecond = 1e6;
  network::Interface interface;
  interface.bandwidth = bandwidth->value_or(input.bandwidth);
  interface.latency = static_cast<Picoseconds>(latency->value_or(kMicrosecond));
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
    return network::makeSwitch(servers, interface);
  std::string error;
  auto tree = network::makeFatTree(**ports, servers, interface, error);
  if (!tree)
    return makeError("--network: " + error);
  return std::move(*tree);
}

static std::unique_ptr<network::Transport>
makeTransport(Model model, const Network &network) {
  network::FlowOptions flows;
  switch (model) {
  case Model::Flows:
    flows.packetBytes = network::SimulateOptions().leastTransfer;
    break;
  case Model::Fair:
    break;
  case Model::Occupancy:
    return std::make_unique<network::OccupancyTransport>(network);
  case Model::Packets:
    llvm_unreachable("made by simulatePackets()");
  }
  return std::make_unique<network::FlowTransport>(network, flows);
}

static StringRef nameOf(Model model) {
  switch (model) {
  case Model::Flows:
    return "flows";
  case Model::Fair:
    return "fair";
  case Model::Occupancy:
    return "occupancy";
  case Model::Packets:
    return "packets";
  }
  llvm_unreachable("every model has a name");
}

static StringRef summaryOf(Model model) {
  switch (model) {
  case Model::Flows:
    return "flow level: max-min fair rates, packets stored and forwarded";
  case Model::Fair:
    return "flow level: max-min fair rates, without packets and latency";
  case Model::Occupancy:
    return "occupancy: links carry one segment of 1 MiB after another";
  case Model::Packets:
    return "packet level: queues, marks, losses, DCTCP";
  }
  llvm_unreachable("every model has a summary");
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

namespace {

/// How long flows took.
struct FlowSummary {
  int64_t bytes = 0;
  Picoseconds mean = 0, median = 0, slow = 0, slowest = 0;

  explicit FlowSummary(const std::vector<network::FlowTime> &flows) {
    if (flows.empty())
      return;
    std::vector<Picoseconds> times;
    double sum = 0;
    for (const network::FlowTime &flow : flows) {
      bytes += flow.bytes;
      times.push_back(flow.end - flow.start);
      sum += static_cast<double>(times.back());
    }
    std::sort(times.begin(), times.end());
    const size_t last = times.size() - 1;
    mean = static_cast<Picoseconds>(sum / static_cast<double>(times.size()));
    median = times[last / 2];
    slow = times[last * 99 / 100];
    slowest = times[last];
  }
};

} // namespace

/// Links in order of what part of the time they are busy, at most ten.
static std::vector<network::LinkId>
busiestLinks(const Network &network, const network::SimulatedStep &step) {
  std::vector<network::LinkId> links(network.links.size());
  std::iota(links.begin(), links.end(), 0);
  std::stable_sort(links.begin(), links.end(), [&](int a, int b) {
    return step.linkBytes[a] / network.links[a].bandwidth >
           step.linkBytes[b] / network.links[b].bandwidth;
  });
  constexpr size_t kShown = 10;
  links.resize(std::min(links.size(), kShown));
  while (!links.empty() && step.linkBytes[links.back()] == 0)
    links.pop_back();
  return links;
}

/// Of the step, in percent.
static double busyPercent(const Network &network,
                          const network::SimulatedStep &step, int link) {
  const double picoseconds =
      step.linkBytes[link] / network.links[link].bandwidth * 1e12;
  return 100 * picoseconds / static_cast<double>(step.finish);
}

static std::string vertexName(const Network &network, int vertex) {
  return vertex < network.numServers
             ? "server " + std::to_string(vertex)
             : "switch " + std::to_string(vertex - network.numServers);
}

static std::string taskName(const Input &input, size_t task) {
  return input.names.empty() ? std::to_string(task) : input.names[task];
}

static void printReport(const SimulateCommandOptions &options,
                        const Input &input, const Network &network,
                        const Outcome &outcome) {
  const network::SimulatedStep &step = outcome.step;
  raw_ostream &out = outs();
  const FlowSummary flows(step.flows);
  const Picoseconds compute =
      *std::max_element(step.compute.begin(), step.compute.end());
  out << "model          " << summaryOf(options.model) << '\n'
      << "network        " << network.numServers << " servers, "
      << network.numSwitches << " switches, " << network.links.size()
      << " links (one way each)\n"
      << "tasks          " << input.graph.tasks.size() << '\n'
      << "step           " << show(step.finish) << '\n'
      << "computation    " << show(compute) << " on the busiest server\n"
      << "flows          " << step.flows.size() << ", "
      << show(static_cast<double>(flows.bytes), QuantityKind::Bytes) << '\n';
  if (!step.flows.empty())
    out << "flow times     mean " << show(flows.mean) << ", median "
        << show(flows.median) << ", 99 % " << show(flows.slow) << ", longest "
        << show(flows.slowest) << '\n';
  if (const auto &packets = outcome.packets)
    out << "packets        " << packets->hops << " arrivals over a link, "
        << packets->marked << " marked, " << packets->lost << " lost, "
        << packets->sentAgain << " sent again after duplicates, "
        << packets->timeouts << " timeouts\n";
  for (network::LinkId link : busiestLinks(network, step))
    out << formatv("busy {0,6:f1} %  {1} to {2}\n",
                   busyPercent(network, step, link),
                   vertexName(network, network.links[link].src),
                   vertexName(network, network.links[link].dst));
  if (!options.tasks)
    return;
  out << formatv("{0,14}  {1,14}  {2}\n", "start", "end", "task");
  for (size_t task = 0; task < step.tasks.size(); ++task)
    out << formatv("{0,14}  {1,14}  {2}\n", show(step.tasks[task].start),
                   show(step.tasks[task].end), taskName(input, task));
}

/// Times are in picoseconds.
static void printJson(const SimulateCommandOptions &options, const Input &input,
                      const Network &network, const Outcome &outcome) {
  const network::SimulatedStep &step = outcome.step;
  const FlowSummary flows(step.flows);
  json::OStream out(outs(), 1);
  out.object([&] {
    out.attribute("model", nameOf(options.model));
    out.attribute("servers", network.numServers);
    out.attribute("switches", network.numSwitches);
    out.attribute("finish_ps", step.finish);
    out.attribute("flows", static_cast<int64_t>(step.flows.size()));
    out.attribute("flow_bytes", flows.bytes);
    out.attribute("flow_mean_ps", flows.mean);
    out.attribute("flow_median_ps", flows.median);
    out.attribute("flow_p99_ps", flows.slow);
    out.attribute("flow_longest_ps", flows.slowest);
    if (const auto &packets = outcome.packets)
      out.attributeObject("packets", [&] {
        out.attribute("hops", packets->hops);
        out.attribute("marked", packets->marked);
        out.attribute("lost", packets->lost);
        out.attribute("sent_again", packets->sentAgain);
        out.attribute("timeouts", packets->timeouts);
      });
    out.attributeArray("compute_ps", [&] {
      for (Picoseconds time : step.compute)
        out.value(time);
    });
    out.attributeArray("links", [&] {
      for (size_t l = 0; l < network.links.size(); ++l)
        out.object([&] {
          out.attribute("src", network.links[l].src);
          out.attribute("dst", network.links[l].dst);
          out.attribute("bytes", step.linkBytes[l]);
        });
    });
    if (options.tasks)
      out.attributeArray("tasks", [&] {
        for (size_t task = 0; task < step.tasks.size(); ++task)
          out.object([&] {
            out.attribute("task", taskName(input, task));
            out.attribute("start_ps", step.tasks[task].start);
            out.attribute("end_ps", step.tasks[task].end);
          });
      });
  });
  outs() << '\n';
}

/// On failure sets `error`.
static std::optional<Outcome>
simulatePackets(const SimulateCommandOptions &options, const Input &input,
                const Network &network, std::string &error) {
  network::PacketOptions packets;
  packets.queuePackets = options.queue.value_or(packets.queuePackets);
  packets.slowStartThreshold =
      options.slowStart.value_or(packets.slowStartThreshold);
  packets.serversMark = options.serversMark.value_or(packets.serversMark);
  packets.seed = static_cast<uint64_t>(
      options.seed.value_or(static_cast<int64_t>(packets.seed)));
  network::PacketTransport transport(network, packets);
  auto step = network::simulate(input.graph, network, transport,
                                options.simulate, error);
  if (!step)
    return std::nullopt;
  return Outcome{std::move(*step), transport.counts()};
}

/// On failure sets `error`.
static std::optional<Outcome>
simulateInput(const SimulateCommandOptions &options, const Input &input,
              const Network &network, std::string &error) {
  if (options.model == Model::Packets)
    return simulatePackets(options, input, network, error);
  const auto transport = makeTransport(options.model, network);
  auto step = network::simulate(input.graph, network, *transport,
                                options.simulate, error);
  if (!step)
    return std::nullopt;
  return Outcome{std::move(*step), std::nullopt};
}

static Error simulateStep(const SimulateCommandOptions &options) {
  Expected<Input> input = readInput(options.arguments[0]);
  if (!input)
    return input.takeError();
  Expected<Network> network = makeNetwork(options, *input);
  if (!network)
    return network.takeError();
  std::string error;
  const auto outcome = simulateInput(options, *input, *network, error);
  if (!outcome)
    return makeError(options.arguments[0] + ": " + error);
  (options.json ? printJson : printReport)(options, *input, *network, *outcome);
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
