//===- WiringSearch.h - links and rings fitted to traffic -------*- C++ -*-===//
//
// Instead of strides any rings: a wiring is made of layers, each of which joins
// servers in cycles. A cycle through a group carries its all-reduces, in both
// directions if links are two-way; cycles of two servers are single links. How
// the interfaces are divided among layers for the different groups and for
// other traffic is tried out, and the order of each cycle is found by simulated
// annealing on what links carry.
//
// Times do not come in here, only bytes: so the same wirings are found for any
// bandwidth, and more bandwidth cannot lead to a worse one.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_NETWORK_WIRINGSEARCH_H
#define FFC_LIB_NETWORK_WIRINGSEARCH_H

#include "Layers.h"

#include <cstdint>
#include <vector>

namespace ffc::network {

struct WiringSearchOptions {
  int degree = 4; ///< interfaces of each server
  LinkKind kind = LinkKind::TwoWay;
  int64_t proposals = 20000; ///< for each division of the interfaces kept
  int kept = 3;              ///< divisions whose cycles are searched to the end
  uint64_t seed = 1;
};

/// The best wiring of each of the most promising divisions of the interfaces,
/// best first. All are connected and keep to the degree. None where no wiring
/// of that degree is connected. The same for the same options on every machine.
std::vector<LayeredWiring> searchWirings(const Traffic &traffic,
                                         const WiringSearchOptions &options);

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_WIRINGSEARCH_H
