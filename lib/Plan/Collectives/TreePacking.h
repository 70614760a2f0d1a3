//===- TreePacking.h - spanning trees that share a graph's links *- C++ -*-===//
//
// How fast an all-gather can be on a graph: as fast as spanning trees from
// every member can be packed into its links, equally many from each. By
// Edmonds' theorem on branchings (1973) that many fit as the least cut allows,
// and they are found edge by edge, where a flow shows that the rest still fit
// (as in Zhao et al., ForestColl, 2024, for graphs without switches).
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TREEPACKING_H
#define FFC_LIB_PLAN_TREEPACKING_H

#include "MemberGraph.h"

#include <vector>

namespace ffc::plan {

/// A tree from a root to all members.
struct SpanningTree {
  int root = 0;
  /// Indices into MemberGraph::edges(), every one after that to its source.
  std::vector<int> edges;
};

struct TreePacking {
  int treesOfEach = 0;
  std::vector<SpanningTree> trees; ///< by root; of a root one after the other
  /// Seconds that a byte of the whole tensor takes on the busiest link, if all
  /// trees carry equally much.
  double secondsPerByte = 0;
};

/// By the bandwidth that every edge has for itself. Nothing where not all
/// members reach each other.
TreePacking packTrees(const MemberGraph &graph,
                      const std::vector<double> &bandwidths);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TREEPACKING_H
