//===- KnownNetworks.h - what a found network is compared with --*- C++ -*-===//
#ifndef FFC_NETWORK_KNOWNNETWORKS_H
#define FFC_NETWORK_KNOWNNETWORKS_H

#include "ffc/Network/TopologySearch.h"

#include <string>
#include <vector>

namespace ffc::network {

struct KnownNetwork {
  std::string name;
  Network network;
  std::vector<RingOrders> rings; ///< by group of the traffic
};

/// Networks for servers with `options.degree` interfaces each:
///  - a switch that each server is joined with by one link as wide as all of
///  its
///    interfaces, which no network of these interfaces beats by much;
///  - the smallest fat tree that has room, with a single interface of a server;
///  - the same with links so narrow that it costs as much as direct links, if
///    ports are paid by bandwidth: six ports a server (its own, and five of
///    switches of three tiers) have the bandwidth of `options.degree`
///    interfaces;
///  - an expander: links by chance, paths as balanced as those of the search,
///    rings in the order of their groups;
///  - a full mesh with as much bandwidth of a server: all-reduces on rings of
///    all strides;
///  - what TopoOpt's rules find, by strides of its program and of the paper,
///    where they connect all servers.
std::vector<KnownNetwork> knownNetworks(const Traffic &traffic,
                                        const TopologySearchOptions &options);

} // namespace ffc::network

#endif // FFC_NETWORK_KNOWNNETWORKS_H
