//===- Parties.cpp - those who send each other something ------------------===//

#include "Parties.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

Parties search::partiesOf(const Topology &topology, bool areNodes) {
  const size_t nodes = topology.nodes().size();
  std::vector<double> own(topology.numDevices()), across(nodes), size(nodes),
      all(nodes);
  for (const Link &link : topology.links()) {
    const int src = topology.vertices()[link.src].node;
    const int dst = topology.vertices()[link.dst].node;
    for (int end : {link.src, link.dst})
      if (end < topology.numDevices())
        own[end] = std::max(own[end], link.bandwidth / 1e12);
    if (src != dst)
      for (int node : {src, dst})
        if (node >= 0)
          across[node] = std::max(across[node], link.bandwidth / 1e12);
  }
  for (DeviceId d = 0; d < topology.numDevices(); ++d)
    ++size[topology.device(d).node];
  Parties parties;
  parties.devices = topology.numDevices();
  parties.count = areNodes ? static_cast<double>(nodes) : parties.devices;
  for (DeviceId d = 0; d < topology.numDevices(); ++d) {
    const int node = topology.device(d).node;
    double bandwidth = own[d];
    if (areNodes || size[node] == 1)
      bandwidth = std::min(bandwidth, across[node]);
    parties.bandwidth += bandwidth;
    parties.fastest = std::max(parties.fastest, bandwidth);
    all[node] += bandwidth;
    if (areNodes) {
      parties.largest = std::max(parties.largest, size[node]);
      parties.most = std::max(parties.most, all[node]);
    }
  }
  if (!areNodes)
    parties.most = parties.fastest;
  return parties;
}
