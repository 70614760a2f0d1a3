//===- TopologyCommand.cpp - ffc topology ---------------------------------===//
//
// Shows a topology: in short, as the long form that all forms expand to, or as
// a drawing for Graphviz.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Plan/Topology.h"

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

  size_t switches = 0, nics = 0;
  for (const plan::Vertex &vertex : topology.vertices()) {
    switches += vertex.kind == plan::Vertex::Kind::Switch;
    nics += vertex.kind == plan::Vertex::Kind::NicOut;
  }
  out << "network        " << switches
      << (switches == 1 ? " switch, " : " switches, ") << plural(nics, "NIC")
      << ", " << plural(topology.links().size(), "link") << " (one way each)\n";

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

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

/// `name` in quotation marks, as Graphviz reads them.
static std::string quote(StringRef name) {
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text + "\"";
}

static void drawVertices(const Topology &topology,
                         const std::vector<size_t> &numbers, StringRef indent,
                         raw_ostream &out) {
  for (size_t v : numbers) {
    const plan::Vertex &vertex = topology.vertices()[v];
    switch (vertex.kind) {
    case plan::Vertex::Kind::Device:
      // "\n" is Graphviz's own line break.
      out << indent << quote(vertex.name)
          << " [shape=box, label=" << quote(vertex.name) << "+\"\\n\"+"
          << quote(topology.kindOf(static_cast<int>(v)).name) << "];\n";
      break;
    case plan::Vertex::Kind::Switch:
      out << indent << quote(vertex.name) << " [shape=ellipse];\n";
      break;
    case plan::Vertex::Kind::NicOut:
      out << indent << quote(vertex.name) << " [shape=diamond];\n";
      break;
    case plan::Vertex::Kind::NicIn: // drawn with the other half
      break;
    }
  }
}

/// One edge for both directions of a link where their figures are equal.
static void printDot(const Topology &topology, raw_ostream &out) {
  const std::vector<plan::Vertex> &vertices = topology.vertices();
  out << "digraph " << quote(topology.name()) << " {\n  node [fontsize=10];\n"
      << "  edge [fontsize=8];\n";
  std::vector<std::vector<size_t>> byNode(topology.nodes().size());
  std::vector<size_t> outside;
  for (size_t v = 0; v < vertices.size(); ++v)
    (vertices[v].node < 0 ? outside : byNode[vertices[v].node]).push_back(v);
  for (size_t node = 0; node < byNode.size(); ++node) {
    out << "  subgraph " << quote("cluster_" + std::to_string(node))
        << " {\n    label=" << quote(topology.nodes()[node]) << ";\n";
    drawVertices(topology, byNode[node], "    ", out);
    out << "  }\n";
  }
  drawVertices(topology, outside, "  ", out);

  using Ends = std::pair<StringRef, StringRef>;
  std::map<Ends, const plan::Link *> linkOf;
  for (const plan::Link &link : topology.links())
    linkOf[{vertices[link.src].name, vertices[link.dst].name}] = &link;
  for (const plan::Link &link : topology.links()) {
    const Ends ends = {vertices[link.src].name, vertices[link.dst].name};
    auto back = linkOf.find({ends.second, ends.first});
    const bool both = back != linkOf.end() &&
                      back->second->bandwidth == link.bandwidth &&
                      back->second->latency == link.latency;
    if (both && back->second < &link)
      continue;
    out << "  " << quote(ends.first) << " -> " << quote(ends.second)
        << " [label="
        << quote(show(link.bandwidth, QuantityKind::BytesPerSecond) + ", " +
                 show(static_cast<double>(link.latency), QuantityKind::Time))
        << (both ? ", dir=both" : "") << "];\n";
  }
  out << "}\n";
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
    printDot(*topology, outs());
  else
    printSummary(*topology, outs());
  return 0;
}

int ffc::runTopologyCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<TopologyOptions>(
      {"ffc topology", intro(), flagGroups(), check, show}, arguments);
}
