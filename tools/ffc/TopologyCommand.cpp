//===- TopologyCommand.cpp - ffc topology ---------------------------------===//
//
// Shows a topology: in short, as the long form that all forms expand to, or as
// a drawing for Graphviz.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"
#include "TopologyDrawing.h"
#include "TopologySearchCommand.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Plan/NetworkParts.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>

using namespace llvm;
using namespace ffc;
using codegen::makeError;
using plan::QuantityKind;
using plan::Topology;

namespace {

struct TopologyOptions : CommandOptions {
  bool dot = false, yaml = false;
};

} // namespace

static const std::vector<FlagGroupOf<TopologyOptions>> &flagGroups() {
  static const std::vector<FlagGroupOf<TopologyOptions>> groups = {
      {"Output",
       {{"--yaml", "", "the long form, which reads back as the same topology",
         setTrue(&TopologyOptions::yaml)},
        {"--dot", "", "a drawing for Graphviz (dot -Tsvg)",
         setTrue(&TopologyOptions::dot)},
        helpFlag<TopologyOptions>()}}};
  return groups;
}

static std::string intro() {
  std::string text = "ffc topology: shows a device topology\n\n"
                     "  ffc topology FILE-or-PRESET [--yaml | --dot]\n"
                     "  ffc topology search GRAPH.fbuf ...   (finds one)\n"
                     "\nPresets (in brackets: the parameters unless given):\n";
  for (const plan::TopologyPreset &preset : plan::topologyPresets())
    text += describeLine(preset.name + ":" + preset.parameters,
                         preset.summary + " (" + preset.standard + ")");
  return text;
}

static Error check(TopologyOptions &options) {
  if (options.dot && options.yaml)
    return makeError("expected --yaml or --dot, found both");
  return expectArguments(options, 1, "one topology, a file or a preset");
}

static std::string show(double value, QuantityKind kind) {
  return plan::formatQuantity(value, kind);
}

//===----------------------------------------------------------------------===//
// Summary
//===----------------------------------------------------------------------===//

namespace {

/// The costs of the routes between some pairs of devices.
struct Range {
  double leastBandwidth = 0, mostBandwidth = 0;
  plan::Picoseconds leastLatency = 0, mostLatency = 0;
  bool empty = true;

  void add(const plan::RouteCost &cost) {
    if (empty) {
      leastBandwidth = mostBandwidth = cost.bandwidth;
      leastLatency = mostLatency = cost.latency;
      empty = false;
    }
    leastBandwidth = std::min(leastBandwidth, cost.bandwidth);
    mostBandwidth = std::max(mostBandwidth, cost.bandwidth);
    leastLatency = std::min(leastLatency, cost.latency);
    mostLatency = std::max(mostLatency, cost.latency);
  }

  std::string str() const {
    auto range = [](double least, double most, QuantityKind kind) {
      return show(least, kind) +
             (least == most ? "" : " to " + show(most, kind));
    };
    return range(leastBandwidth, mostBandwidth, QuantityKind::BytesPerSecond) +
           ", latency " +
           range(static_cast<double>(leastLatency),
                 static_cast<double>(mostLatency), QuantityKind::Time);
  }
};

} // namespace

static std::string plural(size_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// What there is, and of what is between nodes how it is built.
static void printNetwork(const Topology &topology, raw_ostream &out) {
  const std::vector<int> routerOf = plan::routersOf(topology);
  size_t switches = 0, routers = 0, nics = 0;
  for (size_t v = 0; v < routerOf.size(); ++v) {
    const plan::Vertex::Kind kind = topology.vertices()[v].kind;
    nics += kind == plan::Vertex::Kind::NicOut;
    if (kind == plan::Vertex::Kind::Switch)
      ++(routerOf[v] < 0 ? switches : routers);
  }
  out << "network        " << switches
      << (switches == 1 ? " switch, " : " switches, ");
  if (routers > 0)
    out << plural(routers, "router") << " of nodes, ";
  out << plural(nics, "NIC") << ", " << plural(topology.links().size(), "link")
      << " (one way each)\n";

  const plan::NetworkParts parts = plan::networkParts(topology);
  auto join = [&](const char *heading, const auto &counts, auto describe) {
    const char *separator = heading;
    for (auto each = counts.rbegin(); each != counts.rend(); ++each) {
      out << separator << describe(each->first, each->second);
      separator = ", ";
    }
    if (!counts.empty())
      out << "\n";
  };
  join("switches       ", parts.switches, [](int ports, int count) {
    return std::to_string(count) + " with " +
           plural(static_cast<size_t>(ports), "port");
  });
  join("cables         ", parts.cables, [](double bandwidth, int count) {
    return std::to_string(count) + " of " +
           show(bandwidth, QuantityKind::BytesPerSecond);
  });
  if (parts.numCables() == 0)
    return;
  out << "ports          " << parts.switchPorts << " of switches, "
      << parts.nodePorts << " of nodes\n";
  const plan::NetworkHops hops = plan::networkHops(topology, /*maxSources=*/64);
  out << "hops           " << format("%.2f", hops.mean)
      << " between nodes on average, at most " << hops.most << "\n";
}

static void printSummary(const Topology &topology, raw_ostream &out) {
  const int count = topology.numDevices();
  out << topology.name() << ": " << plural(static_cast<size_t>(count), "device")
      << ", " << plural(topology.nodes().size(), "node") << "\n";

  std::map<std::string, size_t> devicesOf;
  for (int id = 0; id < count; ++id)
    ++devicesOf[topology.kindOf(id).name];
  for (const plan::DeviceKind &kind : topology.kinds())
    out << "devices        " << devicesOf[kind.name] << " x " << kind.name
        << " (" << plan::str(kind.target) << ", f32 "
        << show(kind.flops[static_cast<int>(plan::Arithmetic::F32)],
                QuantityKind::FlopsPerSecond)
        << ", "
        << show(static_cast<double>(kind.memoryBytes), QuantityKind::Bytes)
        << " at " << show(kind.memoryBandwidth, QuantityKind::BytesPerSecond)
        << ")\n";

  printNetwork(topology, out);

  // All pairs of a thousand devices are a million; of more devices some stand
  // for the others.
  constexpr int kMaxSources = 1024;
  const int sources = std::min(count, kMaxSources);
  Range within, between;
  for (int i = 0; i < sources; ++i) {
    const int src = static_cast<int>(int64_t(i) * count / sources);
    for (int dst = 0; dst < count; ++dst)
      if (src != dst)
        (topology.device(src).node == topology.device(dst).node ? within
                                                                : between)
            .add(topology.routeCost(src, dst));
  }
  if (!within.empty)
    out << "in a node      " << within.str() << "\n";
  if (!between.empty)
    out << "between nodes  " << between.str() << "\n";
  if (sources < count)
    out << "               (from " << sources << " of the devices)\n";
  out << "hash           " << topology.hash() << "\n";
}

static int show(const TopologyOptions &options) {
  std::string error;
  const std::optional<Topology> topology =
      Topology::load(options.arguments[0], error);
  if (!topology) {
    printError(error);
    return 1;
  }
  if (options.yaml)
    outs() << topology->print();
  else if (options.dot)
    drawTopology(*topology, outs());
  else
    printSummary(*topology, outs());
  return 0;
}

int ffc::runTopologyCommand(const std::vector<std::string> &arguments) {
  // A file of that name is "./search".
  if (!arguments.empty() && arguments.front() == "search")
    return runTopologySearchCommand({arguments.begin() + 1, arguments.end()});
  return runCommandLine<TopologyOptions>(
      {"ffc topology", intro(), flagGroups(), check, show}, arguments);
}
