//===- TopologyPattern.h - regular networks ---------------------*- C++ -*-===//
//
// Private to the library. A pattern joins points, which are numbered from 0 and
// may be devices or nodes: rings, tori, random graphs and so on.
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
  int cables = 1;
};

struct Pattern {
  enum class Type {
    AllToAll,
    Ring,
    Switch,
    SharedMemory,
    Torus,
    TwistedTorus,
    Hypercube,
    RandomRegular,
    Expander,
    FatTree,
    RailOptimised,
    RailOnly,
    Dragonfly
  };
  Type type = Type::Switch;
  LinkFigures figures;
  std::vector<int> shape; ///< tori: extents, the last runs fastest
  /// TwistedTorus: how far the way round each dimension leads in all of them;
  /// empty: as far as the least extent, in those twice as long.
  std::vector<std::vector<int>> twists;
  std::vector<int> strides = {1}; ///< Ring: how far links reach
  int degree = 0;                 ///< random graphs: links of a point
  int seed = 1;                   ///< random graphs
  int ports = 0;            ///< FatTree: of a switch; 0: the least that suffice
  int oversubscription = 1; ///< FatTree: links down of an edge switch by one up
  int spines = 0;           ///< RailOptimised: switches that join the rails
  int group = 0;     ///< RailOptimised: nodes that share rail switches; 0: all
  int terminals = 0; ///< Dragonfly: nodes of a router
  int routers = 0;   ///< Dragonfly: of a group
  int global = 0;    ///< Dragonfly: links of a router to other groups
  int line = 0;      ///< that asks for the pattern

  /// All points are linked with one vertex.
  bool isHub() const {
    return type == Type::Switch || type == Type::SharedMemory;
  }
  /// Points are linked with each other and not with switches.
  bool isDirect() const {
    return !isHub() && type != Type::FatTree && type != Type::RailOptimised &&
           type != Type::RailOnly && type != Type::Dragonfly;
  }
};

/// Pairs of points, each direction of a link for itself.
using PointLinks = std::vector<std::pair<int, int>>;

/// The links of a direct pattern between `count` points, each direction for
/// itself, none twice. `points` names them in messages: "devices", "nodes".
/// Throws Malformed (Text.h) where the pattern does not fit the points.
PointLinks linksOf(const Pattern &pattern, int count,
                   const std::string &points);

/// The k-ary fat tree (Al-Fares et al., SIGCOMM 2008) for `count` points:
/// switches with k ports, k/2 of them up; in each pod k/2 edge switches, and an
/// aggregation switch for each port that leads up from these; over the
/// aggregation switches of equal place in all pods k/2 cores. An edge switch
/// has r points for each link up (r times oversubscribed; 1: the plain tree).
/// Only what `count` points need is there: no second level under one edge
/// switch, no cores over one pod.
struct FatTree {
  FatTree(const Pattern &pattern, int count, const std::string &points);

  int half = 0;         ///< k/2
  int down = 0;         ///< points of an edge switch; point i is under i / down
  int up = 0;           ///< aggregation switches of a pod
  int edges = 0;        ///< edge switches
  int aggregations = 0; ///< pod p has those from p * up on
  int cores = 0;        ///< aggregation a is under cores (a % up) * half on

  int podOf(int edge) const { return edge / half; }
  int pods() const { return (edges + half - 1) / half; }
};

/// The dragonfly (Kim et al., ISCA 2008) for `count` points: groups of routers
/// that are all linked with each other, and links between groups, equally many
/// for each two. Groups are as many as the points need.
struct Dragonfly {
  Dragonfly(const Pattern &pattern, int count, const std::string &points);

  int groups = 0;
  int routers = 0; ///< of a group; router r of group g has number g routers + r
  /// Links between routers of different groups, each once; several may join
  /// the same two.
  PointLinks global;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TOPOLOGYPATTERN_H
