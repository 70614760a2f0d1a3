//===- Parties.h - those who send each other something ----------*- C++ -*-===//
//
// Internal to Search.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_PARTIES_H
#define FFC_LIB_SEARCH_PARTIES_H

#include "ffc/Plan/Topology.h"

namespace ffc::search {

/// All devices, or all nodes, and the most that they can receive from each
/// other, or send.
struct Parties {
  double count = 0;
  double devices = 0; ///< of all together
  double largest = 1; ///< devices of one
  /// Bytes per picosecond: of all devices together, of those of one party, and
  /// of one device.
  double bandwidth = 0, most = 0, fastest = 0;
};

/// A message passes a link of a device at both ends, and between nodes one into
/// or out of each. All devices of a node may have such a link for themselves,
/// since reshards of different values do not share links
/// (docs/decisions/0016).
Parties partiesOf(const plan::Topology &topology, bool areNodes);

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_PARTIES_H
