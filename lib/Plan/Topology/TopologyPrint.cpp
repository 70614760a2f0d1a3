//===- TopologyPrint.cpp - the longest form of a topology -----------------===//

#include "TopologyData.h"

#include <charconv>
#include <iterator>

using namespace ffc::plan;

/// `name` as a YAML scalar: plain if it is one word that means itself.
static std::string scalar(const std::string &name) {
  const bool word =
      name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvw"
                             "xyz0123456789_.") == std::string::npos &&
      name != "null" && name != "Null" && name != "NULL";
  if (word)
    return name;
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text + "\"";
}

static std::string bytesPerSecond(double value) {
  return formatQuantity(value, QuantityKind::BytesPerSecond);
}
static std::string time(Picoseconds value) {
  return formatQuantity(static_cast<double>(value), QuantityKind::Time);
}

static std::string print(const DeviceKind &kind) {
  std::string rates;
  for (int i = 0; i < kNumArithmetics; ++i)
    if (kind.flops[i] > 0)
      rates += (rates.empty() ? "" : ", ") +
               std::string(str(static_cast<Arithmetic>(i))) + ": " +
               formatQuantity(kind.flops[i], QuantityKind::FlopsPerSecond);
  return "  " + scalar(kind.name) + ":\n    target: " + str(kind.target) +
         (kind.generation == GpuGeneration::None
              ? ""
              : "\n    generation: " + std::string(str(kind.generation))) +
         "\n    flops: {" + rates + "}\n    memory: {size: " +
         formatQuantity(static_cast<double>(kind.memoryBytes),
                        QuantityKind::Bytes) +
         ", bandwidth: " + bytesPerSecond(kind.memoryBandwidth) +
         "}\n    launch: " + time(kind.launch) +
         "\n    overlap: " + (kind.overlap ? "true" : "false") + "\n";
}

static std::string printVertices(const std::vector<Vertex> &vertices,
                                 const std::vector<std::string> &nodes,
                                 Vertex::Kind kind,
                                 const std::string &heading) {
  std::string text;
  for (const Vertex &vertex : vertices) {
    if (vertex.kind != kind)
      continue;
    text += "  - {name: " + scalar(vertex.name);
    if (vertex.node >= 0)
      text += ", node: " + scalar(nodes[vertex.node]);
    text += "}\n";
  }
  return text.empty() ? text : heading + text;
}

/// "via: [a, b]", "share: 0.5, via: [a, b]" if `hasShare`.
static std::string print(const StatedPath &path, bool hasShare,
                         const std::vector<Vertex> &vertices) {
  std::string text;
  if (hasShare) {
    char share[32];
    // The shortest number that reads back as the same.
    text = "share: " +
           std::string(share,
                       std::to_chars(share, std::end(share), path.share).ptr) +
           ", ";
  }
  text += "via: [";
  for (size_t i = 0; i < path.via.size(); ++i)
    text += (i > 0 ? ", " : "") + scalar(vertices[path.via[i]].name);
  return text + "]";
}

static std::string print(const StatedRoutes &routes, const Topology &topology) {
  if (routes.empty())
    return "";
  const std::vector<Vertex> &vertices = topology.vertices();
  std::string text = "routes:\n";
  for (const auto &[ends, route] : routes.sorted()) {
    auto nameOf = [&, ofNodes = route->isOfNodes](int end) {
      return scalar(ofNodes ? topology.nodes()[end] : vertices[end].name);
    };
    text += "  - {from: " + nameOf(ends.first) + ", to: " + nameOf(ends.second);
    if (route->paths.size() == 1) {
      text += ", " + print(route->paths[0], /*hasShare=*/false, vertices);
    } else {
      text += ", paths: [";
      for (const StatedPath &path : route->paths)
        text += (&path == &route->paths[0] ? "{" : ", {") +
                print(path, /*hasShare=*/true, vertices) + "}";
      text += "]";
    }
    text += "}\n";
  }
  return text;
}

/// Everything that print() shows but the topology's own name.
static std::string printGraph(const Topology &topology,
                              const StatedRoutes &routes, bool isSpread) {
  std::string text = "kinds:\n";
  for (const DeviceKind &kind : topology.kinds())
    text += print(kind);
  text += "nodes:\n";
  for (const std::string &node : topology.nodes())
    text += "  - " + scalar(node) + "\n";
  text += "devices:\n";
  for (int id = 0; id < topology.numDevices(); ++id) {
    const Device &device = topology.device(id);
    text += "  - {name: " + scalar(device.name) +
            ", kind: " + scalar(topology.kindOf(id).name) +
            ", node: " + scalar(topology.nodes()[device.node]) + "}\n";
  }
  const std::vector<Vertex> &vertices = topology.vertices();
  text += printVertices(vertices, topology.nodes(), Vertex::Kind::Switch,
                        "switches:\n");
  text += printVertices(vertices, topology.nodes(), Vertex::Kind::NicOut,
                        "nics:\n");
  if (!topology.links().empty())
    text += "links:\n";
  for (const Link &link : topology.links())
    text +=
        "  - {from: " + scalar(vertices[link.src].name) +
        ", to: " + scalar(vertices[link.dst].name) +
        ", bandwidth: " + bytesPerSecond(link.bandwidth) +
        ", latency: " + time(link.latency) +
        (link.cables > 1 ? ", cables: " + std::to_string(link.cables) : "") +
        "}\n";
  if (isSpread)
    text += "routing: spread\n";
  return text + print(routes, topology);
}

std::string Topology::print() const {
  return "name: " + scalar(name()) + "\n" +
         printGraph(*this, data->stated, data->isSpread);
}

std::string Topology::hash() const {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : printGraph(*this, data->stated, data->isSpread)) {
    hash ^= byte;
    hash *= 0x100000001b3;
  }
  static const char kHex[] = "0123456789abcdef";
  std::string digits(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4)
    digits[i] = kHex[hash & 15];
  return digits;
}
