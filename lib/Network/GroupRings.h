//===- GroupRings.h - the rings on which a group goes -----------*- C++ -*-===//
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_NETWORK_GROUPRINGS_H
#define FFC_LIB_NETWORK_GROUPRINGS_H

#include "ffc/Network/Network.h"

namespace ffc::network {

/// A message of a ring, from each member to the next one.
struct RingHop {
  VertexId src = 0, dst = 0;
  std::vector<LinkId> links; ///< empty: by the network's paths
};

/// The rings of groups, by the rule in Simulate.h; remembers the links.
class GroupRings {
public:
  explicit GroupRings(const Network &network);

  /// A ring of each list; `members` are at least two.
  std::vector<std::vector<RingHop>>
  of(const std::vector<VertexId> &members) const;

private:
  std::vector<std::vector<RingHop>>
  listed(const std::vector<VertexId> &members) const;

  const Network &network;
  std::map<std::pair<VertexId, VertexId>, LinkId> links;
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_GROUPRINGS_H
