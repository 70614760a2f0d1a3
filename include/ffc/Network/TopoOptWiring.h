//===- TopoOptWiring.h - links by TopoOpt's rules ---------------*- C++ -*-===//
//
// TopoOpt's way from traffic to a network (NSDI'23, algorithm 1), without what
// its released program leaves out: there, all-reduces get every interface, and
// matchings are never made.
//
//  1. The degree is divided between all-reduces and other traffic by what they
//     carry. Where no group is all servers, one ring through all is made first,
//     so that the network is connected.
//  2. Every group gets a part of the interfaces for all-reduces, again by what
//     it carries; TotientPerms and SelectPermutations say which rings
//     (Strides.h). Strides count members, by ascending server, so that groups
//     need not be evenly spaced.
//  3. All other interfaces are matched, round by round (Matching.h).
//  4. Pairs go by coin change over the strides of the group of all servers, or
//  a
//     shortest path where that is shorter.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_TOPOOPTWIRING_H
#define FFC_NETWORK_TOPOOPTWIRING_H

#include "ffc/Network/Wiring.h"

#include <cstdint>
#include <vector>

namespace ffc::network {

/// SelectPermutations.
enum class StrideRule {
  Geometric, ///< of the paper
  Released,  ///< of the released program; of the paper where that finds none
  Best,      ///< the least diameter
};

struct StridedWiring {
  Wiring wiring;
  /// Of the rings through all servers; what paths are added up from.
  std::vector<int> coins;
};

/// Connected if `degree` allows for a ring through all servers: two-way, at
/// least 2 for three servers and more.
StridedWiring topoOptWiring(const Traffic &traffic, int degree, LinkKind kind,
                            StrideRule rule, uint64_t seed);

/// Step 4: a path for every pair of servers that is connected.
void addCoinPaths(Network &network, const std::vector<int> &coins,
                  uint64_t seed);

} // namespace ffc::network

#endif // FFC_NETWORK_TOPOOPTWIRING_H
