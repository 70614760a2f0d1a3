//===- TopologySearchCommand.cpp - ffc topology search --------------------===//
//
// Finds a network for the traffic of a task graph, and writes it as a topology
// and as a task graph with its network.
//
//===----------------------------------------------------------------------===//

#include "TopologySearchCommand.h"

#include "Flags.h"
#include "Report.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Network/KnownNetworks.h"
#include "ffc/Network/PacketTransport.h"
#include "ffc/Network/Simulate.h"
#include "ffc/Network/TaskGraphFile.h"
#include "ffc/Network/TopologyText.h"
#include "ffc/Network/TrainTransport.h"
#include "ffc/Plan/Topology.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace llvm;
using namespace ffc;
using codegen::makeError;
using network::LinkKind;
using network::Picoseconds;
using network::TopologyRule;
using plan::QuantityKind;

namespace {

enum class Model { Flows, Packets };

struct SearchCommandOptions : CommandOptions {
  int64_t servers = 0; ///< 0: those of the task graph
  int64_t degree = 0;
  double bandwidth = 0, latency = 1'000'000;
  bool oneWay = false, compare = false;
  TopologyRule rule = TopologyRule::Best;
  int64_t budget = 0; ///< 0: by the number of servers
  int64_t seed = 0;   ///< 0: not given
  Model model = Model::Packets;
  std::string output;
  int64_t devices = 0; ///< of a server; 0: not given
  std::string kind;
  double deviceBandwidth = 0;
};

} // namespace

static const std::vector<FlagGroupOf<SearchCommandOptions>> &flagGroups() {
  using Options = SearchCommandOptions;
  constexpr int64_t kMost = 65536;
  static const std::vector<FlagGroupOf<Options>> groups = {
      {"Network",
       {{"--servers", "N", "as many as in the task graph, which is the default",
         setWhole(&Options::servers, 2, kMost)},
        {"--degree", "N", "interfaces of each server",
         setWhole(&Options::degree, 1, 1024)},
        {"--interface-bandwidth", "BANDWIDTH",
         "of an interface, each way (\"100 Gbit/s\")",
         setQuantity(&Options::bandwidth, QuantityKind::BytesPerSecond, 1)},
        {"--latency", "TIME", "of a link (1 us)",
         setQuantity(&Options::latency, QuantityKind::Time, 0)},
        {"--one-way", "",
         "an interface sends to one server and receives from another",
         setTrue(&Options::oneWay)}}},
      {"Search",
       {{"--rule", "RULE",
         "topoopt: TopoOpt's way, strides as its program selects them; paper: "
         "as its paper does; best: the best of these and of cycles and paths "
         "fitted to the traffic (best)",
         setChoice<TopologyRule>(&Options::rule,
                                 {{"topoopt", TopologyRule::TopoOpt},
                                  {"paper", TopologyRule::Paper},
                                  {"best", TopologyRule::Best}})},
        {"--budget", "N",
         "proposals of each annealing (320,000 over the number of servers)",
         setWhole(&Options::budget, 1)},
        {"--seed", "N", "of random numbers (1)", setWhole(&Options::seed, 1)},
        {"--model", "MODEL",
         "of the network, as of ffc simulate, by which steps are timed: "
         "packets (default) or flows",
         setChoice<Model>(&Options::model, {{"flows", Model::Flows},
                                            {"packets", Model::Packets}})},
        {"--compare", "",
         "prints the step's time on a switch, a fat tree, an expander, a full "
         "mesh and by TopoOpt's rules, too",
         setTrue(&Options::compare)}}},
      {"Output",
       {{"-o", "FOLDER",
         "writes topology.yaml, with routes, and step.fbuf, the task graph "
         "with network and divided all-reduces",
         setText(&Options::output)},
        {"--server-devices", "N", "of each server in topology.yaml (1)",
         setWhole(&Options::devices, 1, 1024)},
        {"--device-kind", "KIND", "of topology files (a100)",
         setText(&Options::kind)},
        {"--inter-gpu-bandwidth", "BANDWIDTH",
         "between the devices of a server, by one switch",
         setQuantity(&Options::deviceBandwidth, QuantityKind::BytesPerSecond,
                     1)},
        helpFlag<Options>()}}};
  return groups;
}

static const char *const kIntro =
    "ffc topology search: finds a network for the traffic of a step\n\n"
    "  ffc topology search GRAPH.fbuf --degree N --interface-bandwidth B\n"
    "      [-o FOLDER]\n"
    "\nGRAPH.fbuf is a task graph of FlexNet. Its network is not looked at:\n"
    "servers are joined directly with each other. docs/topology-search.md\n";

static Error check(SearchCommandOptions &options) {
  if (Error error = expectArguments(options, 1, "one task graph"))
    return error;
  if (options.degree == 0)
    return makeError("expected --degree, the number of interfaces of each "
                     "server, found none");
  if (options.bandwidth == 0)
    return makeError("expected --interface-bandwidth, found none");
  if (options.rule != TopologyRule::Best && options.budget != 0)
    return meaningless("--budget", "TopoOpt's rules try one network only");
  if (options.output.empty() && (options.devices != 0 || !options.kind.empty()))
    return meaningless(options.devices != 0 ? "--server-devices"
                                            : "--device-kind",
                       "it is about topology.yaml: give -o FOLDER");
  if (options.devices > 1 && options.deviceBandwidth == 0)
    return makeError("--server-devices: expected --inter-gpu-bandwidth for " +
                     Twine(options.devices) + " devices, found none");
  if (options.devices <= 1 && options.deviceBandwidth != 0)
    return meaningless("--inter-gpu-bandwidth",
                       "give two devices or more by --server-devices");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

static std::string milliseconds(Picoseconds time) {
  return formatv("{0:f3} ms", double(time) / 1e9).str();
}

static std::string plural(size_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

static std::string megabytes(double bytes) {
  return formatv("{0:f1} MB", bytes / 1e6).str();
}

namespace {

class SearchCommand {
public:
  SearchCommand(const SearchCommandOptions &options,
                network::TaskGraphFile file)
      : options(options), file(std::move(file)),
        traffic(network::trafficOf(this->file.graph)) {
    search.degree = static_cast<int>(options.degree);
    search.kind = options.oneWay ? LinkKind::OneWay : LinkKind::TwoWay;
    search.bandwidth = options.bandwidth;
    search.latency = static_cast<Picoseconds>(options.latency);
    search.rule = options.rule;
    search.seed = options.seed ? static_cast<uint64_t>(options.seed) : 1;
    constexpr int64_t kBudget = 320'000, kLeast = 1000;
    search.proposals =
        options.budget
            ? options.budget
            : std::max(kLeast, kBudget / std::max(1, traffic.numServers));
  }

  Error run();

private:
  Picoseconds timeOn(const network::Network &net,
                     const std::vector<network::RingOrders> &rings,
                     Model model) const;
  Picoseconds boundOf() const {
    return network::stepBound(traffic, search.degree, search.kind,
                              search.bandwidth);
  }
  void describeTraffic() const;
  void describe(const network::FoundTopology &found, double seconds) const;
  void compare(const network::FoundTopology &found) const;
  Error write(const network::FoundTopology &found) const;

  const SearchCommandOptions &options;
  network::TaskGraphFile file;
  network::Traffic traffic;
  network::TopologySearchOptions search;
};

} // namespace

Picoseconds SearchCommand::timeOn(const network::Network &net,
                                  const std::vector<network::RingOrders> &rings,
                                  Model model) const {
  const network::TaskGraph graph =
      network::divideAllReduces(file.graph, traffic, rings);
  const network::PacketOptions packets;
  std::unique_ptr<network::Transport> transport;
  if (model == Model::Flows)
    transport = std::make_unique<network::TrainTransport>(net, packets);
  else
    transport = std::make_unique<network::PacketTransport>(net, packets);
  std::string error;
  const auto step = network::simulate(graph, net, *transport, {}, error);
  // The graph was read without a fault, and every pair has a path.
  if (!step)
    report_fatal_error(Twine("topology search: ") + error);
  return step->finish;
}

static StringRef nameOf(Model model) {
  return model == Model::Flows ? "flow level" : "packet level";
}

void SearchCommand::describeTraffic() const {
  double transfers = 0, allReduces = 0;
  for (const network::Demand *demand : {&traffic.forward, &traffic.backward})
    for (double bytes : demand->values)
      transfers += bytes;
  for (const network::AllReduceGroup &group : traffic.groups)
    allReduces += group.bytes;
  outs() << formatv("traffic  {0} servers: {1} of transfers, {2} of "
                    "all-reduces in {3}; {4} of computation\n",
                    traffic.numServers, megabytes(transfers),
                    megabytes(allReduces),
                    plural(traffic.groups.size(), "group"),
                    milliseconds(traffic.computation));
}

void SearchCommand::describe(const network::FoundTopology &found,
                             double seconds) const {
  const Model other =
      options.model == Model::Flows ? Model::Packets : Model::Flows;
  outs() << formatv("search   {0}, {1} of them simulated, in {2:f1} s\n",
                    plural(size_t(found.tried), "network"), found.judged,
                    seconds);
  outs() << formatv("found    {0} ({1}; {2} at {3}), by {4}\n",
                    milliseconds(found.time), nameOf(options.model),
                    milliseconds(timeOn(found.network, found.rings, other)),
                    nameOf(other), found.way);
  double hops = 0, interfaces = 0;
  size_t most = 0;
  for (const auto &[ends, paths] : found.network.paths) {
    hops += double(paths.front().links.size());
    most = std::max(most, paths.front().links.size());
  }
  for (const network::Link &link : found.network.links)
    interfaces += link.interfaces;
  const network::PeakLoad peak = network::peakLoadOf(
      found.network, network::demandOf(traffic, found.rings));
  outs() << formatv("network  {0} interfaces in use; {1:f2} hops on average, "
                    "{2} at most; an interface carries {3} at most\n",
                    int64_t(interfaces),
                    hops / double(found.network.paths.size()), most,
                    megabytes(peak.both));
  for (size_t g = 0; g < found.rings.size(); ++g)
    outs() << formatv("group    {0} servers, {1}, on {2}\n",
                      traffic.groups[g].members.size(),
                      megabytes(traffic.groups[g].bytes),
                      plural(found.rings[g].size(), "ring"));
  outs() << formatv("bound    no network of these interfaces takes less than "
                    "{0} ({1:f0} % of it)\n",
                    milliseconds(boundOf()),
                    100.0 * double(boundOf()) / double(found.time));
}

void SearchCommand::compare(const network::FoundTopology &found) const {
  for (const network::KnownNetwork &known :
       network::knownNetworks(traffic, search)) {
    const Picoseconds time = timeOn(known.network, known.rings, options.model);
    outs() << formatv("compare  {0}: {1}, {2:f2} times the network found\n",
                      known.name, milliseconds(time),
                      double(time) / double(found.time));
  }
}

Error SearchCommand::write(const network::FoundTopology &found) const {
  network::TaskGraphFile step = file;
  step.graph = network::divideAllReduces(file.graph, traffic, found.rings);
  step.network = found.network;
  step.networkBandwidth = static_cast<float>(search.bandwidth / 1000);
  std::string error;
  const std::optional<std::string> bytes = network::printTaskGraph(step, error);
  if (!bytes)
    return makeError(error);
  network::ServerParts parts;
  parts.devices = std::max(1, static_cast<int>(options.devices));
  if (!options.kind.empty())
    parts.kind = options.kind;
  parts.bandwidth = options.deviceBandwidth;
  const std::string topology = network::printTopology(
      found.network, sys::path::filename(options.output).str(), parts);
  // Nobody has looked at the kind of the devices yet.
  if (!plan::Topology::parse(topology, "topology.yaml", error))
    return makeError(error);
  codegen::Pending folder(options.output);
  auto put = [&](StringRef name, StringRef contents) {
    SmallString<128> path(folder.path());
    sys::path::append(path, name);
    return codegen::writeText(path, contents);
  };
  if (Error failure = put("step.fbuf", *bytes))
    return failure;
  if (Error failure = put("topology.yaml", topology))
    return failure;
  return folder.commit();
}

Error SearchCommand::run() {
  if (traffic.numServers < 2)
    return makeError(options.arguments[0] +
                     ": expected two servers or more, found " +
                     Twine(traffic.numServers));
  if (options.servers != 0 && options.servers != traffic.numServers)
    return makeError("--servers: expected " + Twine(traffic.numServers) +
                     ", as in " + options.arguments[0] + ", found " +
                     Twine(options.servers));
  describeTraffic();
  const auto start = std::chrono::steady_clock::now();
  const std::optional<network::FoundTopology> found = network::searchTopology(
      traffic, search, [&](const network::Network &net, const auto &rings) {
        return timeOn(net, rings, options.model);
      });
  if (!found)
    return makeError("--degree: expected 2 or more, or --one-way: no network "
                     "of " +
                     Twine(traffic.numServers) +
                     " servers with a single two-way link each is connected");
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  describe(*found, took.count());
  if (options.compare)
    compare(*found);
  return options.output.empty() ? Error::success() : write(*found);
}

static int searchTopology(const SearchCommandOptions &options) {
  std::string error;
  std::optional<network::TaskGraphFile> file =
      network::loadTaskGraph(options.arguments[0], error);
  if (!file) {
    printError(error);
    return 1;
  }
  if (Error failure = SearchCommand(options, std::move(*file)).run()) {
    printError(toString(std::move(failure)));
    return 1;
  }
  return 0;
}

int ffc::runTopologySearchCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<SearchCommandOptions>(
      {"ffc topology search", kIntro, flagGroups(), check, searchTopology},
      arguments);
}
