//===- Topology.cpp - devices and how they are connected ------------------===//

#include "ffc/Plan/Topology.h"

#include "TopologyData.h"

#include <algorithm>
#include <cassert>

using namespace ffc::plan;

const char *ffc::plan::str(Target target) {
  return target == Target::CPU ? "cpu" : "cuda";
}

const char *ffc::plan::str(Arithmetic arithmetic) {
  static const char *const kNames[kNumArithmetics] = {
      "f64", "f32", "tf32", "bf16", "f16", "i64", "i32", "i8"};
  return kNames[static_cast<int>(arithmetic)];
}

//===----------------------------------------------------------------------===//
// Device kinds
//===----------------------------------------------------------------------===//

Arithmetic ffc::plan::arithmeticOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return Arithmetic::F64;
  case ElementType::BF16:
    return Arithmetic::BF16;
  case ElementType::F16:
    return Arithmetic::F16;
  case ElementType::I64:
    return Arithmetic::I64;
  case ElementType::I32:
    return Arithmetic::I32;
  case ElementType::F32:
  case ElementType::U8:
  case ElementType::Bool:
    break;
  }
  return Arithmetic::F32;
}

double DeviceKind::flopsPerSecond(Arithmetic arithmetic) const {
  if (double given = flops[static_cast<int>(arithmetic)]; given > 0)
    return given;
  const bool isWide =
      arithmetic == Arithmetic::F64 || arithmetic == Arithmetic::I64;
  return flops[static_cast<int>(Arithmetic::F32)] / (isWide ? 2 : 1);
}

//===----------------------------------------------------------------------===//
// Topology
//===----------------------------------------------------------------------===//

Topology::Topology(std::shared_ptr<const Data> data) : data(std::move(data)) {}

Topology Topology::withMemory(int64_t bytes) const {
  auto changed = std::make_shared<Data>();
  changed->name = data->name;
  changed->kinds = data->kinds;
  changed->nodes = data->nodes;
  changed->devices = data->devices;
  changed->vertices = data->vertices;
  changed->links = data->links;
  for (DeviceKind &kind : changed->kinds)
    kind.memoryBytes = bytes;
  changed->routes.build(changed->vertices, changed->links, numDevices());
  return Topology(std::move(changed));
}

const std::string &Topology::name() const { return data->name; }

int Topology::numDevices() const {
  return static_cast<int>(data->devices.size());
}

const Device &Topology::device(DeviceId id) const {
  assert(id >= 0 && id < numDevices() && "device outside the topology");
  return data->devices[id];
}

bool Topology::shareMemory(const std::vector<DeviceId> &devices) const {
  const int node = device(devices.front()).node;
  return std::all_of(devices.begin(), devices.end(), [&](DeviceId id) {
    return device(id).node == node && kindOf(id).target == Target::CPU;
  });
}

const DeviceKind &Topology::kindOf(DeviceId id) const {
  return data->kinds[device(id).kind];
}

const std::vector<DeviceKind> &Topology::kinds() const { return data->kinds; }
const std::vector<std::string> &Topology::nodes() const { return data->nodes; }
const std::vector<Vertex> &Topology::vertices() const { return data->vertices; }
const std::vector<Link> &Topology::links() const { return data->links; }

RouteCost Topology::routeCost(DeviceId src, DeviceId dst) const {
  if (src == dst)
    return {0, kindOf(src).memoryBandwidth};
  return data->routes.cost(src, dst);
}

void Topology::appendLinks(DeviceId src, DeviceId dst,
                           std::vector<LinkId> &links) const {
  if (src != dst)
    data->routes.appendLinks(src, dst, links);
}

Route Topology::route(DeviceId src, DeviceId dst) const {
  Route route;
  static_cast<RouteCost &>(route) = routeCost(src, dst);
  if (src != dst)
    data->routes.appendLinks(src, dst, route.links);
  std::reverse(route.links.begin(), route.links.end());
  return route;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

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

/// Everything that print() shows but the topology's own name.
static std::string printGraph(const Topology &topology) {
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
    text += "  - {from: " + scalar(vertices[link.src].name) +
            ", to: " + scalar(vertices[link.dst].name) +
            ", bandwidth: " + bytesPerSecond(link.bandwidth) +
            ", latency: " + time(link.latency) + "}\n";
  return text;
}

std::string Topology::print() const {
  return "name: " + scalar(name()) + "\n" + printGraph(*this);
}

std::string Topology::hash() const {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : printGraph(*this)) {
    hash ^= byte;
    hash *= 0x100000001b3;
  }
  static const char kHex[] = "0123456789abcdef";
  std::string digits(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4)
    digits[i] = kHex[hash & 15];
  return digits;
}
