//===- Layers.h - a wiring as layers of cycles ------------------*- C++ -*-===//
//
// Private to the library: what the search of wirings changes.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_NETWORK_LAYERS_H
#define FFC_LIB_NETWORK_LAYERS_H

#include "ffc/Network/Wiring.h"

#include <random>
#include <vector>

namespace ffc::network {

/// Cycles without common servers.
struct Layer {
  std::vector<std::vector<VertexId>> cycles;
  /// Of each cycle, the group whose all-reduces it carries; -1: of none, and
  /// its servers may change places with those of others.
  std::vector<int> groups;
};

/// Sets of groups without common servers, of one size: what can be in a layer.
/// By the most that a member sends.
std::vector<std::vector<int>> groupClasses(const Traffic &traffic);

/// How many interfaces of a server a layer takes.
int costOf(const Layer &layer, LinkKind kind);

struct LayeredWiring {
  int numServers = 0;
  LinkKind kind = LinkKind::TwoWay;
  std::vector<Layer> layers;

  Pairs connections() const;
  /// Groups go on the cycles that are theirs; those that have none, on all
  /// cycles through all servers, past others; without such a cycle, in their
  /// own order.
  std::vector<RingOrders> rings(const Traffic &traffic) const;
  Wiring wiring(const Traffic &traffic) const;

  /// Changes the order of a cycle, or who is in which; undo() takes it back.
  /// False if nothing can be changed.
  bool propose(std::mt19937_64 &random);
  void undo();

private:
  struct Move {
    size_t layer = 0, cycle = 0, otherCycle = 0;
    size_t from = 0, to = 0; ///< places, of a swap, or the ends of a reversal
    bool swaps = false;
  };
  void apply(const Move &move);

  Move last;
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_LAYERS_H
