//===- LayerChoices.h - where FlexNet's layers can be -----------*- C++ -*-===//
//
// What a search of strategies and networks together chooses for each layer of
// a model that FlexNet measured: the servers that share its samples. Tables are
// whole on one server each, as they were measured.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_LAYERCHOICES_H
#define FFC_NETWORK_LAYERCHOICES_H

#include "ffc/Network/LayerTasks.h"
#include "ffc/Plan/StrategyFile.h"

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace ffc::network {

/// The place of a layer: `count` of the servers, from `first` on, a step of
/// `stride` from one to the next.
struct ServerSet {
  int first = 0, count = 1, stride = 1;
  bool operator==(const ServerSet &o) const {
    return first == o.first && count == o.count && stride == o.stride;
  }
  bool operator<(const ServerSet &o) const {
    return std::tie(first, count, stride) <
           std::tie(o.first, o.count, o.stride);
  }
};

/// By layer.
using Placement = std::vector<ServerSet>;

struct NamedPlacement {
  std::string name;
  Placement placement;
};

class LayerChoices {
public:
  /// `steps` has to live as long. On failure (a layer that no split was
  /// measured of) returns nothing and sets `error`.
  static std::optional<LayerChoices> of(const LayerSteps &steps,
                                        std::string &error);

  /// What people would try:
  ///  - data-parallel: every layer on as many servers as were measured, tables
  ///    on one server each in turn, which is FlexNet's start, too;
  ///  - branches: chains of layers that do not depend on each other on groups
  ///    of a half, a quarter, ... of the servers, so that fewer add up their
  ///    gradients; chains that no group is left for, and all other layers, are
  ///    data-parallel.
  std::vector<NamedPlacement> starts() const;

  /// Another place for a layer, for a part of a chain, or for a chain; or two
  /// tables change places; or a layer goes where a neighbour is.
  Placement propose(const Placement &from, std::mt19937_64 &random) const;

  plan::Strategy strategyOf(const Placement &placement) const;

private:
  LayerChoices() = default;
  void findChains();
  Placement dataParallel() const;
  std::optional<Placement> branches(int groups) const;
  /// The largest set of at most `count` servers that the layer was measured on.
  const plan::FlexNetSplit *splitOf(size_t layer, int count) const;
  bool canBe(size_t layer, const ServerSet &set) const;
  bool place(Placement &placement, size_t layer, const ServerSet &set) const;
  ServerSet draw(size_t layer, std::mt19937_64 &random) const;
  double timeOf(size_t layer) const;

  const LayerSteps *steps = nullptr;
  int servers = 0;
  std::vector<std::vector<plan::FlexNetSplit>> splits; ///< by layer
  std::vector<std::vector<int>> readers, neighbours;   ///< by layer
  /// Layers in a row, each of which is all that the next one reads.
  std::vector<std::vector<size_t>> chains;
  std::vector<size_t> chainOf;                        ///< by layer
  std::vector<std::vector<plan::DeviceId>> devicesOf; ///< by server
};

} // namespace ffc::network

#endif // FFC_NETWORK_LAYERCHOICES_H
