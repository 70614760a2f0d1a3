//===- TopologyDrawing.cpp - topologies for Graphviz ----------------------===//

#include "TopologyDrawing.h"

#include "ffc/Plan/NetworkParts.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace llvm;
using namespace ffc;
using plan::QuantityKind;
using plan::Topology;

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

/// Lines of a label: "\n" is Graphviz's own line break.
static std::string label(StringRef first, StringRef second) {
  return quote(first) + "+\"\\n\"+" + quote(second);
}

/// Of each of its cables.
static std::string cableOf(const plan::Link &link) {
  return plan::formatQuantity(link.bandwidth / link.cables,
                              QuantityKind::BytesPerSecond) +
         ", " +
         plan::formatQuantity(static_cast<double>(link.latency),
                              QuantityKind::Time);
}

static std::string figuresOf(const plan::Link &link) {
  return (link.cables > 1 ? std::to_string(link.cables) + " x " : "") +
         cableOf(link);
}

namespace {

/// One direction of a link, or both where their figures are equal.
struct Edge {
  int src, dst; ///< what is drawn
  const plan::Link *link;
  bool isBothWays;
};

} // namespace

/// The links whose ends are drawn apart; `drawnAs` says by vertex as what, or
/// -1: not at all.
static std::vector<Edge> edgesOf(const Topology &topology,
                                 const std::vector<int> &drawnAs) {
  std::map<std::pair<int, int>, const plan::Link *> linkOf;
  for (const plan::Link &link : topology.links())
    linkOf[{drawnAs[link.src], drawnAs[link.dst]}] = &link;
  std::vector<Edge> edges;
  for (const plan::Link &link : topology.links()) {
    const int src = drawnAs[link.src], dst = drawnAs[link.dst];
    if (src < 0 || dst < 0 || src == dst)
      continue;
    const auto back = linkOf.find({dst, src});
    const bool isBothWays = back != linkOf.end() &&
                            back->second->bandwidth == link.bandwidth &&
                            back->second->latency == link.latency &&
                            back->second->cables == link.cables;
    if (!isBothWays || back->second > &link)
      edges.push_back({src, dst, &link, isBothWays});
  }
  return edges;
}

//===----------------------------------------------------------------------===//
// All vertices
//===----------------------------------------------------------------------===//

static void drawVertices(const Topology &topology,
                         const std::vector<size_t> &numbers, StringRef indent,
                         raw_ostream &out) {
  for (size_t v : numbers) {
    const plan::Vertex &vertex = topology.vertices()[v];
    switch (vertex.kind) {
    case plan::Vertex::Kind::Device:
      out << indent << quote(vertex.name) << " [shape=box, label="
          << label(vertex.name, topology.kindOf(static_cast<int>(v)).name)
          << "];\n";
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

static void drawAll(const Topology &topology, raw_ostream &out) {
  const std::vector<plan::Vertex> &vertices = topology.vertices();
  out << "  node [fontsize=10];\n  edge [fontsize=8];\n";
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

  std::vector<int> drawnAs(vertices.size());
  for (size_t v = 0; v < vertices.size(); ++v)
    drawnAs[v] = static_cast<int>(
        v - (vertices[v].kind == plan::Vertex::Kind::NicIn ? 1 : 0));
  for (const Edge &edge : edgesOf(topology, drawnAs))
    out << "  " << quote(vertices[edge.src].name) << " -> "
        << quote(vertices[edge.dst].name)
        << " [label=" << quote(figuresOf(*edge.link))
        << (edge.isBothWays ? ", dir=both" : "") << "];\n";
}

//===----------------------------------------------------------------------===//
// A circle
//===----------------------------------------------------------------------===//

namespace {

/// What stands on the circle.
struct Circle {
  std::vector<std::string> names, labels;
  std::vector<int> placeOf; ///< by vertex
};

} // namespace

/// Nothing where there are switches between what would stand there.
static std::optional<Circle> circleOf(const Topology &topology) {
  const std::vector<plan::Vertex> &vertices = topology.vertices();
  Circle circle;
  if (topology.nodes().size() == 1) {
    for (size_t v = 0; v < vertices.size(); ++v) {
      if (vertices[v].kind != plan::Vertex::Kind::Device)
        return std::nullopt;
      circle.placeOf.push_back(static_cast<int>(v));
      circle.names.push_back(vertices[v].name);
      circle.labels.push_back(topology.kindOf(static_cast<int>(v)).name);
    }
    return circle;
  }
  circle.names = topology.nodes();
  circle.placeOf = plan::routersOf(topology);
  std::vector<std::map<std::string, int>> kinds(circle.names.size());
  for (size_t v = 0; v < vertices.size(); ++v) {
    int &place = circle.placeOf[v];
    if (vertices[v].node >= 0)
      place = vertices[v].node;
    if (place < 0)
      return std::nullopt;
    if (vertices[v].kind == plan::Vertex::Kind::Device)
      ++kinds[place][topology.kindOf(static_cast<int>(v)).name];
  }
  for (const auto &counts : kinds) {
    std::string text;
    for (const auto &[kind, count] : counts)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " x " + kind;
    circle.labels.push_back(text);
  }
  return circle;
}

static void drawCircle(const Topology &topology, const Circle &circle,
                       raw_ostream &out) {
  constexpr double kPi = 3.14159265358979323846;
  const size_t count = circle.names.size();
  const std::vector<Edge> edges = edgesOf(topology, circle.placeOf);
  // What all links have in common is said once.
  std::set<std::string> figures;
  for (const Edge &edge : edges)
    figures.insert(cableOf(*edge.link));
  // Links go round boxes that stand in their way, which takes Graphviz seconds
  // for a hundred boxes and minutes for some hundreds.
  constexpr size_t kMostWithDetours = 128;
  out << "  layout=neato;\n  splines="
      << (count <= kMostWithDetours ? "true" : "line")
      << ";\n  outputorder=edgesfirst;\n"
      << "  node [shape=box, style=filled, fillcolor=white, fontsize=10];\n"
      << "  edge [fontsize=8, color=gray40];\n";
  if (figures.size() == 1)
    out << "  label=" << quote("links: " + *figures.begin()) << ";\n";
  // An inch and a half for each box, the first one on top, then clockwise.
  const double radius =
      std::max(1.0, 1.5 * static_cast<double>(count) / (2 * kPi));
  for (size_t i = 0; i < count; ++i) {
    const double angle =
        2 * kPi * static_cast<double>(i) / static_cast<double>(count);
    out << "  " << quote(circle.names[i])
        << " [label=" << label(circle.names[i], circle.labels[i]) << ", pos=\""
        << format("%.3f,%.3f!", radius * std::sin(angle),
                  radius * std::cos(angle))
        << "\"];\n";
  }
  for (const Edge &edge : edges) {
    std::string attributes = edge.isBothWays ? "dir=none" : "";
    const char *separator = attributes.empty() ? "" : ", ";
    if (figures.size() > 1)
      attributes += separator + ("label=" + quote(figuresOf(*edge.link)));
    else if (const int cables = edge.link->cables; cables > 1)
      attributes += separator +
                    ("label=" + quote(std::to_string(cables) + " x")) +
                    ", penwidth=" + std::to_string(cables);
    out << "  " << quote(circle.names[edge.src]) << " -> "
        << quote(circle.names[edge.dst]) << " [" << attributes << "];\n";
  }
}

void ffc::drawTopology(const Topology &topology, raw_ostream &out) {
  out << "digraph " << quote(topology.name()) << " {\n";
  if (const std::optional<Circle> circle = circleOf(topology))
    drawCircle(topology, *circle, out);
  else
    drawAll(topology, out);
  out << "}\n";
}
