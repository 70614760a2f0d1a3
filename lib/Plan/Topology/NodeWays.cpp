//===- NodeWays.cpp - ways between a node's devices and its edge ----------===//

#include "NodeWays.h"

#include <algorithm>

using namespace ffc::plan;

NodeWays::NodeWays(const std::vector<Vertex> &vertices,
                   const std::vector<Link> &allLinks,
                   const std::vector<Device> &allDevices, int node,
                   Direction direction)
    : direction(direction) {
  const auto numDevices = static_cast<int>(allDevices.size());
  for (DeviceId id = 0; id < numDevices; ++id)
    if (allDevices[id].node == node)
      members.push_back(id);
  for (size_t i = 0; i < allLinks.size(); ++i) {
    Link link = allLinks[i];
    if (direction == Direction::In)
      std::swap(link.src, link.dst);
    if (vertices[link.src].node != node)
      continue;
    links.push_back(link);
    ids.push_back(static_cast<LinkId>(i));
  }
  routes.build(vertices, links, numDevices);
}

std::optional<std::vector<LinkId>> NodeWays::way(DeviceId device,
                                                 int vertex) const {
  if (routes.distance(device, vertex).hops < 0)
    return std::nullopt;
  std::vector<LinkId> way;
  routes.appendLinks(device, vertex, way);
  for (LinkId &link : way)
    link = ids[link];
  if (direction == Direction::Out)
    std::reverse(way.begin(), way.end());
  return way;
}
