//===- TopologyPattern.h - regular networks ---------------------*- C++ -*-===//
//
// Private to the library. A pattern joins points, which are numbered from 0 and
// may be devices or nodes: rings, tori, random regular graphs and so on.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TOPOLOGYPATTERN_H
#define FFC_LIB_PLAN_TOPOLOGYPATTERN_H

#include "ffc/Plan/Units.h"

#include <string>
#include <utility>
#include <vector>

namespace ffc::plan {

/// Figures of one direction of a link.
struct LinkFigures {
  double bandwidth = 0;
  Picoseconds latency = 0;
};

struct Pattern {
  enum class Type {
    AllToAll,
    Ring,
    Switch,
    SharedMemory,
    Torus,
    RandomRegular,
    FatTree
  };
  Type type = Type::Switch;
  LinkFigures figures;
  std::vector<int> shape;         ///< Torus: extents, the last runs fastest
  std::vector<int> strides = {1}; ///< Ring: how far links reach
  int degree = 0;                 ///< RandomRegular: links of a point
  int seed = 1;                   ///< RandomRegular
  int ports = 0; ///< FatTree: of a switch; 0: the least that suffice
  int line = 0;  ///< that asks for the pattern

  /// Points are linked with each other and not with switches.
  bool isDirect() const {
    return type != Type::Switch && type != Type::SharedMemory &&
           type != Type::FatTree;
  }
};

/// The links of a direct pattern between `count` points, each direction for
/// itself, none twice. `points` names them in messages: "devices", "nodes".
/// Throws Malformed (Text.h) where the pattern does not fit the points.
std::vector<std::pair<int, int>> linksOf(const Pattern &pattern, int count,
                                         const std::string &points);

/// The k-ary fat tree (Al-Fares et al., SIGCOMM 2008) for `count` points:
/// switches with k ports, in each pod k/2 edge switches with k/2 points each
/// and k/2 aggregation switches, and (k/2)^2 core switches. Only what `count`
/// points need is there: no second level under one edge switch, no cores over
/// one pod.
struct FatTree {
  FatTree(const Pattern &pattern, int count, const std::string &points);

  int half = 0;         ///< k/2
  int edges = 0;        ///< edge switches; point i is under number i / half
  int aggregations = 0; ///< pod p has those from p * half on
  int cores = 0;        ///< aggregation a is under cores (a % half) * half on

  int podOf(int edge) const { return edge / half; }
  int pods() const { return (edges + half - 1) / half; }
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TOPOLOGYPATTERN_H
