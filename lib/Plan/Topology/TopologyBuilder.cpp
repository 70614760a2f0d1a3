//===- TopologyBuilder.cpp - makes a checked topology graph ---------------===//

#include "TopologyBuilder.h"

#include "Text/Text.h"

#include <algorithm>
#include <cassert>

using namespace ffc::plan;

/// Bounds on the graph that guard memory; devices have their own.
static constexpr size_t kMaxLinks = 1 << 20;
static constexpr size_t kMaxVertices = 1 << 18;

[[noreturn]] static void fail(int line, const std::string &message) {
  throw Malformed{line, message};
}

static void checkName(int line, const std::string &name) {
  const bool printable = std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (name.empty() || !printable)
    fail(line, "expected a printable name, found " + quoted(name));
}

template <typename Map> static std::vector<std::string> keysOf(const Map &map) {
  std::vector<std::string> keys;
  for (const auto &entry : map)
    keys.push_back(entry.first);
  // Hash maps have no order; messages must be the same everywhere.
  std::sort(keys.begin(), keys.end());
  return keys;
}

//===----------------------------------------------------------------------===//
// Kinds and nodes
//===----------------------------------------------------------------------===//

void TopologyBuilder::defineKind(int line, DeviceKind kind) {
  checkName(line, kind.name);
  for (DeviceKind &other : known)
    if (other.name == kind.name) {
      other = std::move(kind);
      return;
    }
  known.push_back(std::move(kind));
  used.push_back(-1);
}

int TopologyBuilder::findKind(int line, const std::string &name) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].name == name)
      return static_cast<int>(i);
    names.push_back(known[i].name);
  }
  fail(line, "unknown device kind " + quoted(name) +
                 ", expected one of: " + joined(names));
}

int TopologyBuilder::addNode(int line, const std::string &name) {
  checkName(line, name);
  const int number = static_cast<int>(data->nodes.size());
  if (!nodeNumbers.emplace(name, number).second)
    fail(line, "node " + quoted(name) + " is given twice");
  if (number >= kMaxDevices)
    fail(line, "expected at most " + std::to_string(kMaxDevices) +
                   " nodes, found more");
  data->nodes.push_back(name);
  return number;
}

int TopologyBuilder::findNode(int line, const std::string &name) const {
  auto found = nodeNumbers.find(name);
  if (found == nodeNumbers.end())
    fail(line, "unknown node " + quoted(name) +
                   suggestion(name, keysOf(nodeNumbers)));
  return found->second;
}

int TopologyBuilder::onlyNode() {
  if (data->nodes.empty())
    return addNode(0, "n0");
  return data->nodes.size() == 1 ? 0 : -1;
}

//===----------------------------------------------------------------------===//
// Vertices and links
//===----------------------------------------------------------------------===//

void TopologyBuilder::addVertex(int line, const std::string &name,
                                Vertex::Kind kind, int node) {
  checkName(line, name);
  const int vertex = static_cast<int>(data->vertices.size());
  Place place{vertex, vertex, line};
  if (kind == Vertex::Kind::NicOut)
    place.outside = vertex + 1;
  auto [other, inserted] = places.emplace(name, place);
  if (!inserted)
    fail(line, "the name " + quoted(name) + " is given twice, first on line " +
                   std::to_string(other->second.line));
  if (data->vertices.size() + 2 > kMaxVertices)
    fail(line, "expected at most " + std::to_string(kMaxVertices) +
                   " devices, switches and NICs, found more");
  data->vertices.push_back({kind, name, node});
  if (kind == Vertex::Kind::NicOut)
    data->vertices.push_back({Vertex::Kind::NicIn, name, node});
}

void TopologyBuilder::addDevice(int line, const std::string &name, int kind,
                                int node) {
  assert(data->vertices.size() == data->devices.size() &&
         "devices precede all other vertices");
  if (numDevices() >= kMaxDevices)
    fail(line, "expected at most " + std::to_string(kMaxDevices) +
                   " devices, found more");
  addVertex(line, name, Vertex::Kind::Device, node);
  if (used[kind] < 0) {
    used[kind] = static_cast<int>(data->kinds.size());
    data->kinds.push_back(known[kind]);
  }
  data->devices.push_back({name, used[kind], node});
  deviceLines.push_back(line);
}

void TopologyBuilder::addDevices(int line, int64_t count, int kind, int node) {
  for (int64_t i = 0; i < count; ++i)
    addDevice(line, "d" + std::to_string(numDevices()), kind, node);
}

void TopologyBuilder::addSwitch(int line, const std::string &name, int node) {
  addVertex(line, name, Vertex::Kind::Switch, node);
}

void TopologyBuilder::addNic(int line, const std::string &name, int node) {
  addVertex(line, name, Vertex::Kind::NicOut, node);
}

const TopologyBuilder::Place &
TopologyBuilder::findPlace(int line, const std::string &owner,
                           const std::string &name) const {
  auto found = places.find(name);
  if (found == places.end())
    fail(line, owner + " names " + quoted(name) +
                   ", expected a device, switch or NIC" +
                   suggestion(name, keysOf(places)));
  return found->second;
}

std::pair<int, int> TopologyBuilder::endsOf(const Place &source,
                                            const Place &target) const {
  const int sourceNode = data->vertices[source.inside].node;
  const int targetNode = data->vertices[target.inside].node;
  const bool sameNode = sourceNode == targetNode && sourceNode >= 0;
  // Into its node a NIC sends what came from outside, and the reverse.
  return {sameNode ? source.outside : source.inside,
          sameNode ? target.inside : target.outside};
}

void TopologyBuilder::addLink(int line, const std::string &from,
                              const std::string &to, LinkFigures figures) {
  const Place &source = findPlace(line, "the link", from);
  const Place &target = findPlace(line, "the link", to);
  if (source.inside == target.inside)
    fail(line, "the link joins " + quoted(from) + " with itself");
  const auto ends = endsOf(source, target);
  auto [other, inserted] =
      linkIds.emplace(ends, static_cast<LinkId>(data->links.size()));
  if (!inserted)
    fail(line, "a second link from " + quoted(from) + " to " + quoted(to) +
                   ", the first is on line " +
                   std::to_string(linkLines[other->second]));
  if (data->links.size() >= kMaxLinks)
    fail(line, "expected at most " + std::to_string(kMaxLinks) +
                   " links, counting each direction, found more");
  linkLines.push_back(line);
  data->links.push_back({ends.first, ends.second, figures.bandwidth,
                         figures.latency, figures.cables});
}

void TopologyBuilder::addBothWays(int line, const std::string &a,
                                  const std::string &b, LinkFigures figures) {
  addLink(line, a, b, figures);
  addLink(line, b, a, figures);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void TopologyBuilder::failUnreached(DeviceId lost, DeviceId from,
                                    DeviceId to) const {
  const int node = data->devices[from].node;
  const bool isInNode = node == data->devices[to].node;
  const bool hasNic = std::any_of(
      data->vertices.begin(), data->vertices.end(), [&](const Vertex &vertex) {
        return vertex.kind == Vertex::Kind::NicOut && vertex.node == node;
      });
  fail(deviceLines[lost],
       "device " + quoted(nameOf(to)) + " cannot be reached from device " +
           quoted(nameOf(from)) +
           (isInNode && hasNic ? "; link them inside of their node, whose NICs "
                                 "do not send back what it sends"
                               : ""));
}

Topology TopologyBuilder::finish(const std::string &name) {
  data->name = name;
  data->buildRoutes();
  // Reached from the first device, and reaching it: then all reach all.
  DeviceId lost = data->routes.firstUnreachable(0);
  if (lost >= 0)
    failUnreached(lost, 0, lost);
  std::vector<Link> reversed = data->links;
  for (Link &link : reversed)
    std::swap(link.src, link.dst);
  RouteTable back;
  back.build(data->vertices, reversed, numDevices());
  lost = back.firstUnreachable(0);
  if (lost >= 0)
    failUnreached(lost, lost, 0);
  return Topology(data);
}
