//===- SpreadLoads.h - what links carry, over all shortest paths *- C++ -*-===//
//
// Private to the library: how searches compare wirings, before paths are
// chosen.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_NETWORK_SPREADLOADS_H
#define FFC_LIB_NETWORK_SPREADLOADS_H

#include "ffc/Network/Wiring.h"

#include <vector>

namespace ffc::network {

/// Its memory is kept, since searches ask for many wirings.
class SpreadLoads {
public:
  explicit SpreadLoads(int numServers);

  /// What wirings are compared by: for both halves of the step, the loads of
  /// interfaces in bytes where every pair spreads its bytes over all shortest
  /// paths; a mean that the most loaded ones count more in. Infinite if some
  /// server does not reach another.
  double cost(const Pairs &connections, LinkKind kind,
              const PhaseDemand &demand);

private:
  void join(const Pairs &connections, LinkKind kind);
  bool spreadFrom(VertexId src, const PhaseDemand &demand);

  int numServers;
  /// Links by the server they leave, parallel ones more than once.
  std::vector<int> first;
  std::vector<VertexId> dst;
  std::vector<double> forward, backward; ///< loads by link
  /// Of one source: servers by distance, distances, numbers of shortest paths,
  /// and what passes through or ends at a server.
  std::vector<VertexId> found;
  std::vector<int> hops;
  std::vector<double> ways, throughForward, throughBackward;
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_SPREADLOADS_H
