//===- RouteStatements.cpp - checks the routes that a file states ---------===//

#include "TopologyBuilder.h"

#include "Text/Text.h"

#include <algorithm>
#include <cmath>

using namespace ffc::plan;

[[noreturn]] static void fail(int line, const std::string &message) {
  throw Malformed{line, message};
}

static std::string routeBetween(const std::string &from,
                                const std::string &to) {
  return "the route from " + quoted(from) + " to " + quoted(to);
}

TopologyBuilder::RouteEnd
TopologyBuilder::findRouteEnd(int line, const std::string &name) const {
  const auto place = places.find(name);
  const auto node = nodeNumbers.find(name);
  const bool isDevice =
      place != places.end() && place->second.inside < numDevices();
  if (isDevice && node != nodeNumbers.end())
    fail(line, "the route's end " + quoted(name) +
                   " is the name of a device and of a node; rename one of "
                   "them");
  if (node != nodeNumbers.end())
    return {true, node->second, name};
  if (isDevice)
    return {false, place->second.inside, name};
  std::vector<std::string> known = data->nodes;
  for (const Device &device : data->devices)
    known.push_back(device.name);
  fail(line, "expected a device or a node as a route's end, found " +
                 quoted(name) +
                 (place != places.end() ? ", a switch or NIC"
                                        : suggestion(name, known)));
}

void TopologyBuilder::expectNoLoop(std::vector<int> vertices, int line,
                                   const RouteEnd &from,
                                   const RouteEnd &to) const {
  std::vector<std::string> names;
  for (int vertex : vertices)
    names.push_back(data->vertices[vertex].name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    fail(line, routeBetween(from.name, to.name) + " passes through " +
                   quoted(*twice) + " twice");
}

StatedPath TopologyBuilder::resolve(const PathStatement &path,
                                    const RouteEnd &from,
                                    const RouteEnd &to) const {
  const std::string what = routeBetween(from.name, to.name);
  std::vector<std::string> names = path.via;
  if (!from.isNode) {
    names.insert(names.begin(), from.name);
    names.push_back(to.name);
  } else if (names.empty()) {
    fail(path.line, what + ", which are nodes, has no vertex to go by");
  }
  StatedPath stated;
  stated.share = path.share;
  std::vector<int> vertices;
  for (size_t i = 0; i < names.size(); ++i) {
    const Place &here = findPlace(path.line, what, names[i]);
    if (i + 1 == names.size()) {
      // A single NIC is the source's way out or the destination's way in.
      if (i == 0)
        vertices.push_back(data->vertices[here.inside].node == from.number
                               ? here.inside
                               : here.outside);
      break;
    }
    const Place &next = findPlace(path.line, what, names[i + 1]);
    const auto ends = endsOf(here, next);
    const auto link = linkIds.find(ends);
    if (link == linkIds.end())
      fail(path.line, what + " leads from " + quoted(names[i]) + " to " +
                          quoted(names[i + 1]) + ", but no link does");
    if (i == 0)
      vertices.push_back(ends.first);
    else if (vertices.back() != ends.first)
      fail(path.line, what + " turns round in the NIC " + quoted(names[i]) +
                          ", which only passes on what enters or leaves its "
                          "node");
    vertices.push_back(ends.second);
    stated.links.push_back(link->second);
  }
  expectNoLoop(vertices, path.line, from, to);
  if (!from.isNode)
    vertices = {vertices.begin() + 1, vertices.end() - 1};
  stated.via = std::move(vertices);
  return stated;
}

void TopologyBuilder::completePath(const StatedPath &path, int line,
                                   const RouteEnd &from, const RouteEnd &to) {
  const std::vector<Link> &links = data->links;
  using Direction = NodeWays::Direction;
  auto waysOf = [&](std::map<int, NodeWays> &known, int node,
                    Direction direction) -> const NodeWays & {
    return known
        .try_emplace(node, data->vertices, links, data->devices, node,
                     direction)
        .first->second;
  };
  // From the inside of the source's node to the first vertex.
  const int first = path.via.front(), last = path.via.back();
  const NodeWays &out = waysOf(waysOut, from.number, Direction::Out);
  for (DeviceId device : out.devices()) {
    auto way = out.way(device, first);
    if (!way)
      fail(line, routeBetween(from.name, to.name) + " begins with " +
                     quoted(data->vertices[first].name) + ", which device " +
                     quoted(nameOf(device)) +
                     " does not reach inside of its node");
    std::vector<int> vertices = path.via;
    for (LinkId link : *way)
      vertices.push_back(links[link].src);
    expectNoLoop(std::move(vertices), line, from, to);
    if (!data->stated.hasWayOut(device, first))
      data->stated.addWayOut(device, first, std::move(*way));
  }
  const NodeWays &in = waysOf(waysIn, to.number, Direction::In);
  for (DeviceId device : in.devices()) {
    auto way = in.way(device, last);
    if (!way)
      fail(line, routeBetween(from.name, to.name) + " ends with " +
                     quoted(data->vertices[last].name) +
                     ", which does not reach device " + quoted(nameOf(device)) +
                     " inside of its node");
    std::vector<int> vertices = path.via;
    for (LinkId link : *way)
      vertices.push_back(links[link].dst);
    expectNoLoop(std::move(vertices), line, from, to);
    if (!data->stated.hasWayIn(last, device))
      data->stated.addWayIn(last, device, std::move(*way));
  }
}

void TopologyBuilder::addRoute(int line, const std::string &from,
                               const std::string &to,
                               const std::vector<PathStatement> &paths) {
  // Of shares that are written with few digits, and of sums.
  constexpr double kTolerance = 1e-4, kRounding = 1e-12;
  const RouteEnd source = findRouteEnd(line, from);
  const RouteEnd target = findRouteEnd(line, to);
  const std::string what = routeBetween(from, to);
  if (source.isNode != target.isNode)
    fail(line, what + " joins a device and a node; expected two of a kind");
  if (source.number == target.number)
    fail(line, what + " leads nowhere");
  StatedRoute route;
  route.isOfNodes = source.isNode;
  double shares = 0;
  for (const PathStatement &path : paths) {
    StatedPath stated = resolve(path, source, target);
    for (const StatedPath &other : route.paths)
      if (other.via == stated.via)
        fail(path.line, what + " has the same path twice");
    if (route.isOfNodes)
      completePath(stated, path.line, source, target);
    shares += stated.share;
    route.paths.push_back(std::move(stated));
  }
  if (std::abs(shares - 1) > kTolerance)
    fail(line, "expected shares that add up to 1, found " +
                   std::to_string(shares) + " in " + what);
  // What is printed adds up, and reads back as it is.
  for (StatedPath &path : route.paths)
    if (std::abs(shares - 1) > kRounding)
      path.share /= shares;
  if (!data->stated.add({source.number, target.number}, std::move(route)))
    fail(line, what + " is given twice");
}
